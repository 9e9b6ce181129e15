"""The room Inside: one model on one context, layer by layer."""

from collections.abc import Iterator
from typing import Any

import jax

from .._unknown import Unknown
from ..attention import kind_of
from ..claims import long_run
from ..figures import drawing
from ..readout import Walk, explain, figures, walk
from ..runs import Run, Store
from ..tasks import LinearRegression
from ._fields import Fields
from ._learn import opened, weights_of
from ._python import written
from ._task import IMPORTS, MOST_N, Task
from ._training import Training

# The networks that came with the package: names are law-kind-layers, all for the same inputs.
SHIPPED, SHIPPED_D, SHIPPED_N = "linear-transformers", 10, 20
# Dimensions and context length that can be looked at, also those of a run.
MOST_D = 20
MOST_RUNS = 200
# The law that the sliders are of.
USUAL = "gaussian"
# Contexts that the read-out is fitted over, and figures of it that are shown.
READ, MOST_FIGURES = 512, 4


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
    if given is not None:
        Fields(given, "the task")  # an object, or a sentence
    fields.done()
    if source.has("training"):
        task = Training.read(source.part("training")).task
        title: str = "the model trained in the room Learn"
        model: Any = None
        for event in weights_of({name: source.part(name) for name in ("training", "weights") if source.has(name)}):
            if event["event"] == "model":
                model = opened(event["weights"])
            else:
                yield event
    elif source.has("run"):
        model, task, title = _of_run(source.text("run", 200))
    elif source.has("network"):
        model, task, title = _of_network(source.text("network", 200))
    else:
        raise ValueError("the address names nothing that can be opened; choose a network from the list.")
    # A page that was opened by a link doesn't know yet how many inputs the network has.
    task = Task.read({"d": task.d, **given}, MOST_D) if given is not None else task
    regression = task.regression()
    prompt = regression.sample(key=jax.random.key(seed))
    path, python = walk(model, regression, prompt), _python(source, task, seed)
    kind = kind_of(model)
    yield {
        "event": "inside",
        "title": f"{kind.sentence[:1].upper()}{kind.sentence[1:]}: {title}",
        "task": {**task.__dict__, "levels": list(task.levels)},
        "sigma": float(prompt.sigma) if prompt.sigma is not None else None,
        "how": path.how,
        "fall": {**drawing(path.fall()), "python": written(python, "path.fall()", "fall")},
        "layers": [_layer(path, index, python) for index in range(path.layers + 1)],
    }
    # It is fitted over many contexts, and takes longer.
    try:
        yield {"event": "reading", **_reading(model, regression, python)}
    except Unknown as reason:
        yield {
            "event": "reading",
            "sentence": f"Which algorithm it is can't be read: {reason}.",
            "lines": [],
            "layers": 0,
            "figures": [],
        }


def _layer(path: Walk, index: int, python: str) -> dict[str, Any]:
    """What the page shows of a layer: where the weight vector is after it, and its matrices."""
    there, matrices = path.figure(index), path.matrices(index)
    found = {"walk": (there, f"path.figure({index})"), "maps": (matrices, f"path.matrices({index})")}
    return {
        name: None if figure is None else {**drawing(figure), "python": written(python, how, figure.name)}
        for name, (figure, how) in found.items()
    }


def _reading(model: Any, task: LinearRegression, python: str) -> dict[str, Any]:
    """What algorithm the weights are, in sentences and figures; the first sentences are of the layers, in order."""
    found = explain(model, task, contexts=READ)
    return {
        "sentence": found.sentence,
        "lines": list(found.sentences),
        # Of a single layer there is no sentence beside that of the whole.
        "layers": len({each.sentence for each in found.layers} & {*found.sentences}),
        "figures": [
            {**drawing(figure), "see": figure.see, "python": written(python, f"read[{figure.name!r}]", figure.name)}
            for figure in figures(found)[:MOST_FIGURES]
        ],
    }


def _of_run(name: str) -> tuple[Any, Task, str]:
    """A run of the store, by its whole name or the beginning of it."""
    run = Store().get(name)
    run.check()
    d, n = _of(run, "d"), _of(run, "n")
    if not isinstance(d, int) or not isinstance(n, int):
        raise ValueError(f"the run {run.name} doesn't say on what task it was trained; expected one of descant train.")
    told: dict[str, Any] = run.config["task"]
    if d > MOST_D or n > MOST_N:
        raise ValueError(f"the run {run.name} has d = {d} and n = {n}; expected at most {MOST_D} and {MOST_N} here.")
    task = _shown(told, run.name)
    return run.model(), task, f"the run {run.name}"


def _shown(told: dict[str, Any], name: str) -> Task:
    """The task of a run in the words of the sliders; none that is other than what it was trained on."""
    spectrum = told.get("input_spectrum") or ""
    plain = {
        **{part: told[part] for part in ("d", "n")},
        **{
            field: told[flag]
            for field, flag in (("mean", "prior_mean"), ("scale", "prior_scale"), ("condition", "input_condition"))
            if flag in told
        },
        "spectrum": spectrum if isinstance(spectrum, str) else ",".join(map(repr, spectrum)),
    }
    laws = {flag: told.get(flag) for flag in ("prior", "inputs", "label_noise") if told.get(flag, USUAL) != USUAL}
    try:
        if told.get("task") or laws:
            raise ValueError(f"it has laws of its own, {told.get('task') or laws}.")
        law = _noise(str(told.get("noise", "0")))
        return Task.read({**plain, "law": law["law"], "levels": list(law["levels"])}, MOST_D)
    except (ValueError, Unknown) as reason:
        words = str(reason).rstrip(".")
        raise ValueError(
            f"the task of {name} is none that this page has sliders for: {words}; descant explain reads it."
        ) from None


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


def _python(source: Fields, task: Task, seed: int) -> str:
    """The program that opens the same model on the same context."""
    if source.has("training"):
        begin = Training.read(source.part("training")).python() + "\nmodel = trained.model\n"
    elif source.has("run"):
        begin = f"from descant.runs import Store\n\nmodel = Store().get({source.text('run', 200)!r}).model()\n"
    else:
        name = source.text("network", 200)
        begin = f"from descant.claims import long_run\n\nmodel = long_run({SHIPPED!r}).model({name!r})\n"
    return f"""{begin}
import jax
{IMPORTS}from descant.readout import explain, figures, walk

task = {task.python()}
path = walk(model, task, task.sample(key=jax.random.key({seed})))
found = explain(model, task, contexts={READ})
print(found.text)
read = {{each.name: each for each in figures(found)}}
"""


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
