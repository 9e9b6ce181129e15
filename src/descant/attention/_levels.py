"""The way to a deep network: levels of simpler ones, each fitted from the best of those before it.

A deep network trained from random weights alone ends in one of many poor minima. A network with one layer less, or one
of a smaller class, fitted first, gives starts that are already good: a weak layer is added at each place, GD++ becomes
DIAG, DIAG becomes axial, axial becomes FULL. Random starts are tried beside them at every level. The classes are
ordered by symmetry: a network that is at a minimum of the smaller class has no slope towards the larger one, so that it
takes a push to leave DIAG's rotations, and FULL, which has the most parameters by far, is left with little to find.

Which levels lead to a kind of model says its record.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._predictor import AbstractPredictor
from ..tasks import AbstractTask
from ._kind import kind_of, random_start

# Random starts beside those that are known to be good.
RANDOM_STARTS = 6
# Each takes a moment to draw and a while to follow.
MOST_STARTS = 10_000


@dataclass(frozen=True)
class Level:
    """One class of models on the way: what it looks like, and where its fits begin, given what was found before.

    `template` is a model of the class; `starts(found, key)` gives models of its shapes, `found` being the best of each
    level before by name.
    """

    name: str
    template: Any
    starts: Callable[[dict[str, Any], PRNGKeyArray], list[Any]]


def plan(model: AbstractPredictor, task: AbstractTask, random_starts: int, *, every_depth: bool = False) -> list[Level]:
    """The levels that lead to a model of this kind; the last one is the model's own.

    With `every_depth` all shallower networks of its kind are among them, also where they don't lead there.

    **Arguments:** `random_starts` are tried at every level beside those that are known to be good.

    >>> import jax
    >>> from descant import LinearRegression, attention as at
    >>> model = at.Diag.zeros(layers=2)
    >>> for level in plan(model, LinearRegression(d=3, n=8), random_starts=1):
    ...     print(level.name)
    gd++ 1
    diag 1
    gd++ 2
    diag 2
    """
    levels = kind_of(model).levels
    if levels is None:
        return only(model, task, random_starts)
    return levels(model, task, random_starts, every_depth)


def only(model: Any, task: AbstractTask, random_starts: int) -> list[Level]:
    """A single level, that of the model itself."""
    return [Level("only", model, lambda found, key: [model, *randoms(model, task, key, random_starts)])]


def randoms(template: Any, task: AbstractTask, key: PRNGKeyArray, count: int) -> list[Any]:
    """So many random starts."""
    return [random_start(template, task, jax.random.fold_in(key, 1000 + index)) for index in range(count)]


def cut(model: Any, layers: int) -> Any:
    """The same kind of model with so many layers, all zero: a template."""
    return jax.tree.map(lambda leaf: jnp.zeros((layers, *leaf.shape[1:]), leaf.dtype), model)


def deepened(model: Any, task: AbstractTask, key: PRNGKeyArray) -> list[Any]:
    """Networks with one more layer that begin where `model` stands: a weak random layer at each place.

    **Returns:** `model.layers + 1` networks, one for each place of the new layer.
    """
    single = jax.tree.map(lambda leaf: leaf[:1], model)
    starts = []
    for position in range(model.layers + 1):
        layer = random_start(single, task, jax.random.fold_in(key, position))
        starts.append(_with_layer(model, position, jax.tree.map(lambda leaf: 0.3 * leaf, layer)))
    return starts


def _with_layer(model: Any, position: int, layer: Any) -> Any:
    """A copy with one more layer, its parameters those of the one-layer model `layer`."""
    return jax.tree.map(lambda leaf, new: jnp.concatenate([leaf[:position], new, leaf[position:]]), model, layer)
