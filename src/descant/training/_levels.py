"""The way to a deep network: levels of simpler ones, each fitted from the best of those before it.

A deep network trained from random weights alone ends in one of many poor minima. A network with one layer less, or one of
a smaller class, fitted first, gives starts that are already good: a weak layer is added at each place, GD++ becomes
DIAG, DIAG becomes FULL. Random starts are tried beside them at every level.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._predictor import AbstractLinearPredictor
from ..attention import Diag, FreeDiag, Full, GDPlusPlusTransformer
from ..tasks import LinearRegression
from ._starts import deepened, diag_from_gd, free_from_gd, full_from_diag, jiggled, preconditioner_start, random_start

# How far FULL starts from DIAG: enough to leave its symmetry, in units of the weights' own size.
JIGGLES = (0.01, 0.1, 0.3)


@dataclass(frozen=True)
class Level:
    """One class of models on the way: what it looks like, and where its fits begin, given what was found before."""

    name: str
    template: Any
    starts: Callable[[dict[str, Any], PRNGKeyArray], list[Any]]


def plan(model: AbstractLinearPredictor, task: LinearRegression, random_starts: int) -> list[Level]:
    """The levels that lead to a model of this kind; the last one is the model's own."""
    tied = getattr(model, "depth", None) is not None
    match model:
        case GDPlusPlusTransformer() if not tied:
            return [_gd_level(layers, task, random_starts) for layers in range(1, model.layers + 1)]
        case Diag() | FreeDiag() if not tied:
            levels = []
            for layers in range(1, model.layers + 1):
                levels += [_gd_level(layers, task, random_starts), _diag_level(model, layers, task, random_starts)]
            return levels
        case Full() if not tied:
            diag = Diag.zeros(*model.p.shape[:2])
            return [*plan(diag, task, random_starts), *_full_levels(model, task, random_starts)]
    return [Level("only", model, lambda found, key: [model, *_randoms(model, task, key, random_starts)])]


def _randoms(template: Any, task: LinearRegression, key: PRNGKeyArray, count: int) -> list[Any]:
    return [random_start(template, task, jax.random.fold_in(key, 1000 + index)) for index in range(count)]


def _cut(model: Any, layers: int) -> Any:
    """The same kind of model with so many layers."""
    return jax.tree.map(lambda leaf: jnp.zeros((layers, *leaf.shape[1:]), leaf.dtype), model)


def _gd_level(layers: int, task: LinearRegression, random_starts: int) -> Level:
    template = GDPlusPlusTransformer(jnp.zeros(layers), jnp.zeros(layers))

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        before = found.get(f"gd++ {layers - 1}")
        known = [] if before is None else deepened(before, task, key)
        return [preconditioner_start(layers, task), *known, *_randoms(template, task, key, random_starts)]

    return Level(f"gd++ {layers}", template, starts)


def _diag_level(model: Diag | FreeDiag, layers: int, task: LinearRegression, random_starts: int) -> Level:
    template = _cut(model, layers)
    lift = diag_from_gd if isinstance(model, Diag) else free_from_gd

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        before = found.get(f"diag {layers - 1}")
        known = [] if before is None else deepened(before, task, key)
        return [lift(found[f"gd++ {layers}"], template, task), *known, *_randoms(template, task, key, random_starts)]

    return Level(f"diag {layers}", template, starts)


def _full_levels(model: Full, task: LinearRegression, random_starts: int) -> list[Level]:
    def level(layers: int) -> Level:
        template = _cut(model, layers)

        def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
            diagonal = full_from_diag(found[f"diag {layers}"], task.d)
            known = [jiggled(diagonal, amount, jax.random.fold_in(key, index)) for index, amount in enumerate(JIGGLES)]
            before = found.get(f"full {layers - 1}")
            if before is not None:
                known += deepened(before, task, key)
            return [*known, *_randoms(template, task, key, random_starts // 2)]

        return Level(f"full {layers}", template, starts)

    return [level(layers) for layers in range(1, model.layers + 1)]
