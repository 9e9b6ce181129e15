"""GD++ as a linear transformer."""

from operator import mul
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from ..estimators import GDPlusPlus, gd_plus_plus_layer
from ..tasks import AbstractTask, Moments
from ._diagonal import AbstractDiagonal, blocks, check_list
from ._kind import Kind, Prepared
from ._levels import Level, deepened, only, randoms
from ._linear_transformer import check_depth, depth_and_sets, layers_of, stack_torch
from ._starts import SPREAD, gram_sizes


class GDPlusPlusTransformer(AbstractDiagonal):
    """GD++: w_xy = w_yy = 0. Each layer takes a gradient step (w_yx) and preconditions the inputs (w_xx).

    Its weight vector is f(X^T X) X^T y with a polynomial f: linear in the labels, hence never better than the best
    constant ridge.

    **Arguments:** `w_xx` and `w_yx` are (L,), or (1,) for `depth` tied layers.

    >>> GDPlusPlusTransformer(jnp.zeros(1), jnp.array([-0.5]), depth=4).layers
    4
    """

    w_xx: Float[Array, " L"]
    w_yx: Float[Array, " L"]

    def __check_init__(self):
        check_list("w_xx", self.w_xx)
        _check.shape("w_yx", self.w_yx, self.w_xx.shape, "w_xx has it")
        check_depth(self.depth, self.w_xx.shape[0])

    @classmethod
    def random(
        cls, layers: int, *, key: PRNGKeyArray, tied: bool = False, scale=0.01, dtype=float
    ) -> "GDPlusPlusTransformer":
        """Normal numbers of the given scale; `tied` layers share one set of them."""
        depth, count = depth_and_sets(layers, 1, tied)
        return cls(*(scale * jax.random.normal(key, (2, count), dtype)), depth=depth)

    @property
    def factors(self) -> int:
        """One omega."""
        return 1

    def omegas(self) -> Float[Array, "L 2 2"]:
        """w_xx and w_yx, beside zeros."""
        zero = jnp.zeros_like(self.w_xx)
        return blocks(self.w_xx, zero, self.w_yx, zero)


class Spectrum(eqx.Module):
    """A context in the eigenbasis of its X^T X, where the matrices of GD++ are numbers.

    GD++ is w = f(X^T X) X^T y, so a coordinate of the eigenbasis never meets another one,
    and a layer costs d operations.
    """

    eigenvalues: Float[Array, "*m d"]
    slopes: Float[Array, "*m d"]
    vectors: Float[Array, "*m d d"]

    @classmethod
    def of(cls, moments: Moments) -> "Spectrum":
        """Those of many contexts; NumPy, because JAX's batched LAPACK can hang (see `_linalg.eigh`)."""
        gram = np.asarray(moments.gram)
        values, vectors = np.linalg.eigh(gram[:, :-1, :-1])
        slopes = np.einsum("mij,mi->mj", vectors, gram[:, :-1, -1])
        return cls(*(jnp.asarray(part) for part in (values, slopes, vectors)))


def _weights(model: GDPlusPlusTransformer, context: Spectrum) -> Float[Array, " d"]:
    """The weight vector, every layer elementwise."""
    shape = (model.layers,)
    steps, growths = jnp.broadcast_to(model.w_yx, shape), jnp.broadcast_to(model.w_xx, shape)
    w, m = jnp.zeros_like(context.slopes), jnp.ones_like(context.slopes)
    for index in range(model.layers):
        sizes = -steps[index], -growths[index]
        w, m = gd_plus_plus_layer(w, m, *sizes, context.eigenvalues, context.slopes, times=mul)
    return context.vectors @ w


def gd_level(layers: int, task: AbstractTask, random_starts: int) -> Level:
    """GD++ of so many layers, from the network of Theorem 5.1, from the one with a layer less, and from random ones."""
    template = GDPlusPlusTransformer(jnp.zeros(layers), jnp.zeros(layers))

    def starts(found: dict[str, Any], key: PRNGKeyArray) -> list[Any]:
        before = found.get(f"gd++ {layers - 1}")
        known = [] if before is None else deepened(before, task, key)
        return [_preconditioner(layers, task), *known, *randoms(template, task, key, random_starts)]

    return Level(f"gd++ {layers}", template, starts)


def _levels(model: GDPlusPlusTransformer, task: AbstractTask, random_starts: int, every_depth: bool) -> list[Level]:
    del every_depth  # all are on the way
    if model.depth is not None:
        return only(model, task, random_starts)
    return [gd_level(layers, task, random_starts) for layers in range(1, model.layers + 1)]


def _preconditioner(layers: int, task: AbstractTask) -> GDPlusPlusTransformer:
    """Theorem 5.1's network for the bulk of the eigenvalues of X^T X: precondition, then one step."""
    second = np.linalg.eigvalsh(np.asarray(task.query_metric()))
    ratio = (task.d / task.n) ** 0.5
    low, high = task.n * second.min() * max(1 - ratio, 0.1) ** 2, task.n * second.max() * (1 + ratio) ** 2
    gd = GDPlusPlus.preconditioned(layers, max(low, 1e-3 * high), high)
    return GDPlusPlusTransformer(-gd.contractions, -gd.steps)


def _make(task: AbstractTask, *, layers: int = 1, tied: bool = False, key: PRNGKeyArray) -> GDPlusPlusTransformer:
    return _restart(GDPlusPlusTransformer.random(layers, key=key, tied=tied), task, key)


def _restart(model: GDPlusPlusTransformer, task: AbstractTask, key: PRNGKeyArray) -> GDPlusPlusTransformer:
    x, _ = gram_sizes(task)
    normal = SPREAD * jax.random.normal(key, (2, *model.w_xx.shape))
    return GDPlusPlusTransformer(-jnp.abs(normal[0]) / (3 * x), -jnp.abs(normal[1]) / x, depth=model.depth)


KIND = Kind(
    name="gd++",
    sentence="linear transformer that takes gradient steps and preconditions (GD++)",
    model=GDPlusPlusTransformer,
    make=_make,
    restart=_restart,
    levels=_levels,
    layers=layers_of,
    prepared=Prepared(Spectrum.of, _weights),
    torch=stack_torch,
)
