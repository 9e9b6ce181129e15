"""A model on one context: where its weight vector is after each layer, and the matrices that move it, as figures."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .. import _check
from .._predictor import AbstractPredictor
from ..attention import LSA, AbstractLinearTransformer, layer_states
from ..figures import Axis, Baseline, Figure, HeatMap, Panel, Series
from ..measure import best
from ..tasks import LinearRegression, Prompt


@dataclass(frozen=True)
class Walk:
    """A model on a context: its weight vectors `w` (L + 1, d) before the first and after each layer.

    They should go to `true`, the task's weights, or to `ridge`, the oracle's (both (d,)); `metric` (d, d) is the norm
    in which distances are told, that of the inputs; `how` says in words how the vectors were had.
    """

    model: Any
    w: Float[np.ndarray, "S d"]
    true: Float[np.ndarray, " d"]
    ridge: Float[np.ndarray, " d"]
    prompt: Prompt
    metric: Float[np.ndarray, "d d"]
    how: str

    @property
    def layers(self) -> int:
        """How many layers."""
        return len(self.w) - 1

    def distances(self, to: Float[np.ndarray, " d"]) -> Float[np.ndarray, " S"]:
        """|w - to|^2 after each layer, in the norm of the inputs: what a query loses on average."""
        difference = self.w - to
        return np.einsum("si,ij,sj->s", difference, self.metric, difference)

    def fall(self) -> Figure:
        """What a query loses after each layer, on this context."""
        return _fall(self)

    def figure(self, layer: int) -> Figure:
        """Where the weight vector is after a layer, 0 before the first.

        A line through the data for d = 1, the path in the plane for d = 2, and coordinate by coordinate above.
        """
        return {1: _line, 2: _plane}.get(self.w.shape[1], _bars)(self, self._checked(layer))

    def matrices(self, layer: int) -> Figure | None:
        """The matrices of a layer, of the first for 0; None for a model that has none to show."""
        return _matrices(self, self._checked(layer))

    def _checked(self, layer: int) -> int:
        _check.size("layer", layer, least=0, most=self.layers)
        return layer


def walk(model: AbstractPredictor, task: LinearRegression, prompt: Prompt) -> Walk:
    """Follow a model's weight vector on one context, layer by layer where it is a stack of linear attention.

    **Arguments:** `model` is any predictor, `prompt` a context that was sampled from `task`: it knows its weights.

    **Returns:** a `Walk`, with its figures.

    >>> import jax, jax.numpy as jnp
    >>> from descant import LinearRegression
    >>> from descant.attention import gd_as_transformer
    >>> from descant.estimators import GD
    >>> task = LinearRegression(d=2, n=8)
    >>> network = gd_as_transformer(GD(jnp.zeros(2), [0.25, 0.25]), n=8)
    >>> walk(network, task, task.sample(key=jax.random.key(0))).fall().title
    'How far the weight vector is, layer by layer'
    """
    if prompt.w is None:
        raise ValueError("prompt has no weights of its task; expected one that task.sample has drawn.")
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
    ridge = np.asarray(best("ridge", task).weights(moments))
    return Walk(model, found, np.asarray(prompt.w), ridge, prompt, np.asarray(task.query_metric()), how)


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


def _line(walk: Walk, index: int) -> Figure:
    """One input: the data, and the line that the layer has found."""
    x, y = (np.asarray(part).ravel() for part in (walk.prompt.x, walk.prompt.y))
    ends = np.array([min(0.0, x.min()), max(0.0, x.max())])
    name = f"after layer {index}" if index else "before the first layer"
    series = (
        Series("the context", tuple(x), tuple(y), style="points"),
        Series(name, tuple(ends), tuple(walk.w[index, 0] * ends), style="line", family="after"),
        Series("the task", tuple(ends), tuple(walk.true[0] * ends), style="dashed"),
        Series("the oracle's ridge", tuple(ends), tuple(walk.ridge[0] * ends), style="dashed"),
    )
    panel = Panel("", Axis("x"), Axis("y"), series)
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
    return Figure("plane", "The path of the weight vector", "", (Panel("", axes[0], axes[1], series),), columns=1)


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


def _matrices(walk: Walk, index: int) -> Figure | None:
    """The matrices of a layer; before the first, its own, which come next."""
    model, d = walk.model, walk.w.shape[1]
    names = (*(f"x{number}" for number in range(1, d + 1)), "y")
    if isinstance(model, AbstractLinearTransformer):
        layer = min(max(index, 1), walk.layers) - 1
        p, q = (np.asarray(part)[layer] for part in model.dense(d))
        pairs = [
            (f"head {h + 1}: {letter}", matrix[h]) for h in range(len(p)) for letter, matrix in (("P", p), ("Q", q))
        ]
        title = f"Layer {layer + 1} of {walk.layers}: e ← e + Σ P G Q e"
    elif isinstance(model, LSA):
        heads = range(model.heads)
        values, queries = np.asarray(model.v), np.asarray(model.u)
        pairs = [
            pair for h in heads for pair in ((f"head {h + 1}: v", values[h : h + 1]), (f"head {h + 1}: U", queries[h]))
        ]
        title = "ŷ = y_q + Σ v · G U e / n"
    else:
        arrays = [
            (jax.tree_util.keystr(path), np.asarray(leaf))
            for path, leaf in jax.tree_util.tree_flatten_with_path(model)[0]
            if eqx.is_inexact_array(leaf)
        ]
        pairs = [
            (name.lstrip("."), np.atleast_2d(leaf)) for name, leaf in arrays if leaf.ndim <= 2 and leaf.size <= 400
        ]
        title = "Its arrays"
    if not pairs:
        return None
    panels = [
        HeatMap(name, tuple(map(tuple, matrix)), *(names if size == len(names) else () for size in matrix.shape))
        for name, matrix in pairs[:12]
    ]
    return Figure("matrices", title, "", tuple(panels), columns=2)
