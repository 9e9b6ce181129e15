"""The room Inside: one model on one context, layer by layer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._unknown import Unknown
from ..attention import LSA, AbstractLinearTransformer, kind_of, layer_states
from ..claims import long_run
from ..figures import Axis, Baseline, Figure, HeatMap, Panel, Series, drawing
from ..measure import best
from ..runs import Run, Store
from ..tasks import LinearRegression, Prompt
from ._fields import Fields
from ._learn import Training, opened, weights_of
from ._task import LARGEST, MOST_CONDITION, MOST_N, Task

# The networks that came with the package: names are law-kind-layers, all for the same inputs.
SHIPPED, SHIPPED_D, SHIPPED_N = "linear-transformers", 10, 20
# Dimensions and context length that can be looked at, also those of a run.
MOST_D = 20
MOST_RUNS = 200


@dataclass(frozen=True)
class Walk:
    """A model on a context: its weight vector before the first and after each layer, and where it should go."""

    w: np.ndarray
    true: np.ndarray
    ridge: np.ndarray
    prompt: Prompt
    metric: np.ndarray
    how: str

    @property
    def layers(self) -> int:
        """How many layers."""
        return len(self.w) - 1

    def distances(self, to: np.ndarray) -> np.ndarray:
        """|w - to|^2 after each layer, in the norm of the inputs: what a query loses on average."""
        difference = self.w - to
        return np.einsum("si,ij,sj->s", difference, self.metric, difference)


def sources(asked: Any) -> Iterator[dict[str, Any]]:
    """What can be opened: the runs below the present folder, and the networks that came with the package."""
    Fields(asked, "the question").done()
    runs = []
    for run in Store().runs()[:MOST_RUNS]:
        if run.finished:
            words = f"{run.config.get('model', '?')}, d = {_of(run, 'd')}, n = {_of(run, 'n')}"
            runs.append({"name": run.name, "words": words})
    found = long_run(SHIPPED)
    yield {"event": "sources", "runs": runs, "networks": [] if found is None else list(found.models)}


def inside(asked: Any) -> Iterator[dict[str, Any]]:
    """Everything that the page steps through, for all layers at once."""
    fields = Fields(asked, "the question")
    seed = fields.whole("seed", 0, 2**31 - 1, 0)
    source = Fields(fields.part("source"), "the source")
    given = fields.part("task") if fields.has("task") else None
    fields.done()
    if source.has("training"):
        task = Training.read(source.part("training")).task
        model, title = None, "the model trained in the room Learn"
        for event in weights_of({name: source.part(name) for name in ("training", "weights") if source.has(name)}):
            if event["event"] == "model":
                model = opened(event["weights"])
            else:
                yield event
    elif source.has("run"):
        model, task, title = _of_run(source.text("run", 200))
    else:
        model, task, title = _of_network(source.text("network", 200))
    task = task if given is None else Task.read(given, MOST_D)
    regression = task.regression()
    prompt = regression.sample(key=jax.random.key(seed))
    walk = _walk(model, regression, prompt)
    kind = kind_of(model)
    yield {
        "event": "inside",
        "title": f"{kind.sentence}: {title}",
        "task": {**task.__dict__, "levels": list(task.levels)},
        "sigma": float(prompt.sigma) if prompt.sigma is not None else None,
        "how": walk.how,
        "fall": drawing(_fall(walk)),
        "layers": [_layer(model, walk, index) for index in range(walk.layers + 1)],
        "reading": reading(model, regression),
    }


def reading(model: Any, task: LinearRegression) -> dict[str, Any] | None:
    """What algorithm the weights are, in sentences; None where nobody can tell."""
    del model, task
    return None


def _walk(model: Any, task: LinearRegression, prompt: Prompt) -> Walk:
    moments = prompt.moments()
    if isinstance(model, AbstractLinearTransformer):
        found, how = np.asarray(layer_states(model, moments).w), "the weight vector of each layer, by Theorem 4.1"
    else:
        before = np.zeros(task.d)
        if isinstance(model, LSA):
            slope = model.guess.slope(task.d, model.v.dtype)
            before = before if slope is None else np.asarray(slope)
        if model.linear:
            after, how = np.asarray(model.weights(moments)), "before: its guess; after: its weight vector"
        else:
            after, how = _probed(model, prompt), "not linear in the query: half of f(e) − f(−e) for each coordinate"
        found = np.stack([before, after])
    assert prompt.w is not None
    ridge = np.asarray(best("ridge", task).weights(moments))
    return Walk(found, np.asarray(prompt.w), ridge, prompt, np.asarray(task.query_metric()), how)


def _probed(model: Any, prompt: Prompt) -> np.ndarray:
    def at(query: Any) -> Any:
        return model(eqx.tree_at(lambda each: each.x_query, prompt, query))

    units = jnp.eye(prompt.d)
    return np.asarray((jax.vmap(at)(units) - jax.vmap(at)(-units)) / 2)


def _fall(walk: Walk) -> Figure:
    """What a query loses after each layer, on this context."""
    layers = tuple(range(walk.layers + 1))
    to_task = Series("to the task's weights", layers, tuple(walk.distances(walk.true)), style="both")
    to_ridge = Series("to the oracle's ridge", layers, tuple(walk.distances(walk.ridge)), style="both")
    difference = walk.ridge - walk.true
    floor = Baseline("the oracle's ridge to the task's", float(difference @ walk.metric @ difference))
    panel = Panel("", Axis("layer"), Axis("squared distance"), (to_task, to_ridge), (floor,))
    return Figure("fall", "How far the weight vector is, layer by layer", "", (panel,), columns=1)


def _layer(model: Any, walk: Walk, index: int) -> dict[str, Any]:
    """What the page shows of a layer: where the weight vector is after it, and its matrices."""
    picture = {1: _line, 2: _plane}.get(walk.w.shape[1], _bars)(walk, index)
    maps = _maps(model, walk, index)
    return {
        "walk": drawing(picture),
        "maps": None if maps is None else drawing(maps),
        "w": walk.w[index].tolist(),
    }


def _line(walk: Walk, index: int) -> Figure:
    """One input: the data, and the line that the layer has found."""
    x, y = (np.asarray(part).ravel() for part in (walk.prompt.x, walk.prompt.y))
    ends = np.array([min(0.0, x.min()), max(0.0, x.max())])
    series = [Series("the context", tuple(x), tuple(y), style="points")]
    for name, slope, style in (
        (f"after layer {index}" if index else "before the first layer", walk.w[index, 0], "line"),
        ("the task", walk.true[0], "dashed"),
        ("the oracle's ridge", walk.ridge[0], "dashed"),
    ):
        series.append(Series(name, tuple(ends), tuple(slope * ends), style=style, family=name.split(" layer")[0]))
    panel = Panel("", Axis("x"), Axis("y"), tuple(series))
    return Figure("line", "The data and the line", "", (panel,), columns=1)


def _plane(walk: Walk, index: int) -> Figure:
    """Two inputs: the path of the weight vector in the plane."""
    path = walk.w[: index + 1]
    everything = np.vstack([walk.w, walk.true, walk.ridge])
    low, high = everything.min(0), everything.max(0)
    margin = 0.12 * max(float((high - low).max()), 1e-9)
    axes = [
        Axis(name, limits=(float(start - margin), float(end + margin)))
        for name, start, end in zip(("first weight", "second weight"), low, high, strict=True)
    ]
    series = (
        Series("the weight vector so far", tuple(path[:, 0]), tuple(path[:, 1]), style="both"),
        Series("the task's", (walk.true[0],), (walk.true[1],), style="points"),
        Series("the oracle's ridge", (walk.ridge[0],), (walk.ridge[1],), style="points"),
    )
    return Figure("plane", "The path of the weight vector", "", (Panel("", *axes, series),), columns=1)


def _bars(walk: Walk, index: int) -> Figure:
    """More inputs: the weights coordinate by coordinate."""
    places = tuple(range(1, walk.w.shape[1] + 1))
    everything = np.vstack([walk.w, walk.true, walk.ridge, np.zeros_like(walk.true)])
    room = 0.06 * max(float(np.ptp(everything)), 1e-9)
    limits = (float(everything.min() - room), float(everything.max() + room))
    name = f"after layer {index}" if index else "before the first layer"
    series = (
        Series(name, places, tuple(walk.w[index]), style="bars", family="after"),
        Series("the task's", places, tuple(walk.true), style="bars"),
        Series("the oracle's ridge", places, tuple(walk.ridge), style="bars"),
    )
    panel = Panel("", Axis("coordinate"), Axis("weight", limits=limits), series)
    return Figure("weights", "The weight vector and where it should go", "", (panel,), columns=1)


def _maps(model: Any, walk: Walk, index: int) -> Figure | None:
    """The matrices of the layer that comes next, or of the last one at the end."""
    d = walk.w.shape[1]
    names = (*(f"x{number}" for number in range(1, d + 1)), "y")
    if isinstance(model, AbstractLinearTransformer):
        layer = min(max(index, 1), walk.layers) - 1
        p, q = (np.asarray(part)[layer] for part in model.dense(d))
        pairs = [(f"head {h + 1}: {letter}", matrix[h]) for h in range(len(p)) for letter, matrix in (("P", p), ("Q", q))]
        title = f"Layer {layer + 1} of {walk.layers}: e ← e + Σ P G Q e"
    elif isinstance(model, LSA):
        heads = range(model.heads)
        values, queries = np.asarray(model.v), np.asarray(model.u)
        pairs = [pair for h in heads for pair in ((f"head {h + 1}: v", values[h : h + 1]), (f"head {h + 1}: U", queries[h]))]
        title = "ŷ = y_q + Σ vᵀ G U e / n"
    else:
        arrays = [
            (jax.tree_util.keystr(path), np.asarray(leaf))
            for path, leaf in jax.tree_util.tree_flatten_with_path(model)[0]
            if eqx.is_inexact_array(leaf)
        ]
        pairs = [(name.lstrip("."), np.atleast_2d(leaf)) for name, leaf in arrays if leaf.ndim <= 2 and leaf.size <= 400]
        title = "Its arrays"
    if not pairs:
        return None
    panels = [
        HeatMap(name, tuple(map(tuple, matrix)), *(names if size == len(names) else () for size in matrix.shape))
        for name, matrix in pairs[:12]
    ]
    return Figure("matrices", title, "", tuple(panels), columns=2)


def _of_run(name: str) -> tuple[Any, Task, str]:
    """A run of the store, by its whole name or the beginning of it."""
    run = Store().get(name)
    run.check()
    d, n = _of(run, "d"), _of(run, "n")
    if not isinstance(d, int) or not isinstance(n, int):
        raise ValueError(f"the run {run.name} doesn't say on what task it was trained; expected one of descant train.")
    told: dict[str, Any] = run.config["task"]
    numbers = {
        field: told.get(flag)
        for field, flag in (("mean", "prior_mean"), ("scale", "prior_scale"), ("condition", "input_condition"))
    }
    plain = {field: value for field, value in numbers.items() if isinstance(value, int | float)}
    task = Task(min(d, MOST_D), min(n, MOST_N), **plain, **_noise(str(told.get("noise", "0"))))
    in_bounds = abs(task.mean) <= LARGEST and task.scale <= LARGEST and 1 <= task.condition <= MOST_CONDITION
    if d > MOST_D or not in_bounds:
        raise ValueError(f"the run {run.name} was trained on a task that is too large for this page.")
    return run.model(), task, f"the run {run.name}"


def _of(run: Run, name: str) -> Any:
    task = run.config.get("task")
    return task.get(name) if isinstance(task, dict) else None


def _of_network(name: str) -> tuple[Any, Task, str]:
    """A network that came with the package."""
    shipped = long_run(SHIPPED)
    if shipped is None or name not in shipped.models:
        raise ValueError(f"network is {name!r}; expected the name of one that came with the package.")
    law = name.rsplit("-", 2)[0]
    words = f"uniform:{law.removeprefix('uniform-')}" if law.startswith("uniform") else law.replace("-", ",")
    return shipped.model(name), Task(SHIPPED_D, SHIPPED_N, **_noise(words)), f"{name}, trained for the claims"


def _noise(words: str) -> dict[str, Any]:
    """The law of the noise level in the words of the command line, where it is one that sliders have."""
    law, _, numbers = words.rpartition(":")
    try:
        levels = tuple(float(part) for part in numbers.split(","))
    except ValueError:
        raise Unknown(f"the noise law {words!r} is none of those that this page knows") from None
    if law not in ("", "uniform") or len(levels) > 4:
        raise Unknown(f"the noise law {words!r} is none of those that this page knows")
    return {"law": law or ("levels" if len(levels) > 1 else "fixed"), "levels": levels}
