"""The way to a deep network: levels of simpler ones, each fitted from the best of those before it.

A deep network trained from random weights alone ends in one of many poor minima. A network with one layer less, or one of
a smaller class, fitted first, gives starts that are already good: a weak layer is added at each place, GD++ becomes
DIAG, DIAG becomes axial, axial becomes FULL. Random starts are tried beside them at every level. The classes are ordered by
symmetry: a network that is at a minimum of the smaller class has no slope towards the larger one, so that it takes a push to
leave DIAG's rotations, and FULL, which has the most parameters by far, is left with little to find.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._predictor import AbstractPredictor
from ..attention import Axial, Diag, FreeDiag, Full, GDPlusPlusTransformer, as_full
from ..tasks import AbstractTask
from ._starts import deepened, diag_from_gd, free_from_gd, preconditioner_start, pushed, random_start

# How far axial networks start from DIAG: enough to leave its symmetry, in units of the weights' own size.
PUSHES = (0.1, 0.1, 0.1, 0.3, 0.3, 0.3)
# Axes on the way to FULL. Of single starts, about one in ten finds what axes are good for: more random ones than elsewhere.
AXES, MORE_STARTS = 2, 4


@dataclass(frozen=True)
class Level:
    """One class of models on the way: what it looks like, and where its fits begin, given what was found before."""

    name: str
    template: Any
    starts: Callable[[dict[str, Any], PRNGKeyArray], list[Any]]


def plan(model: AbstractPredictor, task: AbstractTask, random_starts: int, *, every_depth: bool = False) -> list[Level]:
    """The levels that lead to a model of this kind; the last one is the model's own.

    With `every_depth` all shallower networks of its kind are among them, also where they don't lead there.
    """
    tied = getattr(model, "depth", None) is not None
    match model:
        case GDPlusPlusTransformer() if not tied:
            return [_gd_level(layers, task, random_starts) for layers in range(1, model.layers + 1)]
        case Diag() | FreeDiag() if not tied:
            levels = []
            for layers in range(1, model.layers + 1):
                levels += [_gd_level(layers, task, random_starts), _diag_level(model, layers, task, random_starts)]
            return levels
        case Axial() if not tied:
            diag = Diag.zeros(*model.p_across.shape)
            axial = [_axial_level(model, layers, task, random_starts) for layers in range(1, model.layers + 1)]
            return [*plan(diag, task, random_starts), *axial]
        case Full() if not tied:
            axial = Axial.from_diag(Diag.zeros(*model.p.shape[:2]), min(AXES, task.d))
            # FULL starts from axial networks, not from shallower ones, which are fitted for their own sake only.
            depths = range(1 if every_depth else model.layers, model.layers + 1)
            full = [_full_level(model, layers, task) for layers in depths]
            return [*plan(axial, task, random_starts), *full]
    return [Level("only", model, lambda found, key: [model, *_randoms(model, task, key, random_starts)])]


def _randoms(template: Any, task: AbstractTask, key: PRNGKeyArray, count: int) -> list[Any]:
    return [random_start(template, task, jax.random.fold_in(key, 1000 + index)) for index in range(count)]


def _cut(model: Any, layers: int) -> Any:
    """The same kind of model with so many layers."""
    return jax.tree.map(lambda leaf: jnp.zeros((layers, *leaf.shape[1:]), leaf.dtype), model)


def _gd_level(layers: int, task: AbstractTask, random_starts: int) -> Level:
    template = GDPlusPlusTransformer(jnp.zeros(layers), jnp.zeros(layers))

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        before = found.get(f"gd++ {layers - 1}")
        known = [] if before is None else deepened(before, task, key)
        return [preconditioner_start(layers, task), *known, *_randoms(template, task, key, random_starts)]

    return Level(f"gd++ {layers}", template, starts)


def _diag_level(model: Diag | FreeDiag, layers: int, task: AbstractTask, random_starts: int) -> Level:
    template = _cut(model, layers)
    lift = diag_from_gd if isinstance(model, Diag) else free_from_gd

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        before = found.get(f"diag {layers - 1}")
        known = [] if before is None else deepened(before, task, key)
        return [lift(found[f"gd++ {layers}"], template, task), *known, *_randoms(template, task, key, random_starts)]

    return Level(f"diag {layers}", template, starts)


def _axial_level(model: Axial, layers: int, task: AbstractTask, random_starts: int) -> Level:
    template = _cut(model, layers)

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        diagonal = Axial.from_diag(found[f"diag {layers}"], model.axes)
        near = [pushed(diagonal, amount, jax.random.fold_in(key, 100 + index)) for index, amount in enumerate(PUSHES)]
        before = found.get(f"axial {layers - 1}")
        deeper = [] if before is None else deepened(before, task, key)
        return [diagonal, *near, *deeper, *_randoms(template, task, key, MORE_STARTS * random_starts)]

    return Level(f"axial {layers}", template, starts)


def _full_level(model: Full, layers: int, task: AbstractTask) -> Level:
    template = _cut(model, layers)

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        # On a finite pool there is always some slope towards the rest of FULL: no push is needed. A single start, because
        # screening on few contexts would overfit the one that is good.
        del key
        return [as_full(found[f"axial {layers}"], task.d)]

    return Level(f"full {layers}", template, starts)
