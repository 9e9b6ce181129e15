"""Levenberg-Marquardt on a pool: the steps that a training of small models is made of.

Models here have few parameters (tens, at most a thousand or two), and their loss is a sum of squares over contexts: its
Gauss-Newton matrix is cheap and says almost everything about the curvature. A step is taken only if it lowers the loss
of the whole pool, so contexts with enormous residuals (L layers are a polynomial of degree 3^L) can't poison it, and
none is left out.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from threadpoolctl import ThreadpoolController

from .. import lanes
from ..attention import kind_of
from ._flat import outline, rebuild
from ._pool import threads

# Up to so many parameters per output, derivatives go forwards.
FORWARD_RATIO = 3
# Contexts whose Jacobians are held at once, for small models, whose Jacobians stay in the cache, and for large ones,
# whose J^T J doesn't, and should be added up seldom. Must divide the size of a pool's piece.
BLOCK, LARGE_BLOCK = 64, 128
# From this many parameters on a model is large; and so many columns of J are multiplied at a time.
LARGE, COLUMNS = 256, 128
# Damping: where it starts, how it falls after a good step and rises after a bad one, and where there is no way down.
FIRST_DAMPING = 1e-2
FALL, RISE = 0.2, 5.0
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e10
# `stalled` of a fit from which no step leads down, or whose derivatives overflow.
STUCK = 10**6
# Curvature that a direction is given at least, as a fraction of the largest: gauge directions have none of their own.
FLOOR = 1e-20


class Point(NamedTuple):
    """Where a fit stands: parameters, mean loss on the pool, damping, and how long it has hardly moved."""

    theta: Float[np.ndarray, " p"]
    loss: float
    damping: float = FIRST_DAMPING
    stalled: int = 0


def _residuals(model: Any, block: Any, root: Float[Array, "d d"]) -> Float[Array, "m d"]:
    return lanes.vmap(lambda model, context: context.residual(model, root), (None, 0))(model, block)


def _blocks(piece: Any, size: int) -> Any:
    return jax.tree.map(lambda leaf: leaf.reshape(-1, size, *leaf.shape[1:]), piece)


@eqx.filter_jit
def _loss(like: Any, theta: Float[Array, " p"], piece: Any, root: Float[Array, "d d"]) -> Float[Array, ""]:
    model = rebuild(like, theta)

    def add(total, block):
        return total + jnp.sum(_residuals(model, block, root) ** 2), None

    return jax.lax.scan(add, jnp.zeros(()), _blocks(piece, BLOCK))[0]


@eqx.filter_jit
def _normal(
    model: Any, piece: Any, root: Float[Array, "d d"]
) -> tuple[Float[Array, "p p"], Float[Array, " p"], Float[Array, ""]]:
    """J^T J, J^T r and r^T r of one piece of the pool."""
    arrays, static = eqx.partition(model, eqx.is_array)
    theta, unravel = ravel_pytree(arrays)
    forwards = theta.size <= FORWARD_RATIO * root.shape[0]

    def jacobian(block):
        if forwards:
            slopes = [_forwards(model, index, block, root) for index in range(len(jax.tree.leaves(arrays)))]
            return jnp.concatenate(slopes, axis=-1), _residuals(model, block, root)

        def one(theta, context):
            value = context.residual(eqx.combine(unravel(theta), static), root)
            return value, value

        return jax.vmap(jax.jacrev(one, has_aux=True), in_axes=(None, 0))(theta, block)

    def add(total, block):
        slopes, values = jacobian(block)
        flat, values = slopes.reshape(-1, theta.size), values.reshape(-1)
        part = _square(flat), flat.T @ values, values @ values
        return jax.tree.map(jnp.add, total, part), None

    zero = jnp.zeros((theta.size, theta.size)), jnp.zeros(theta.size), jnp.zeros(())
    return jax.lax.scan(add, zero, _blocks(piece, BLOCK if theta.size < LARGE else LARGE_BLOCK))[0]


def _forwards(model: Any, index: int, block: Any, root: Float[Array, "d d"]) -> Float[Array, "m d q"]:
    """Slopes of the residuals by one array of the model: what does not depend on it has none to carry."""
    arrays, static = eqx.partition(model, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    leaf = leaves[index]

    def of(leaf):
        now = jax.tree.unflatten(structure, [*leaves[:index], leaf, *leaves[index + 1 :]])
        return _residuals(eqx.combine(now, static), block, root)

    along = jax.vmap(lambda tangent: jax.jvp(of, (leaf,), (tangent,))[1], out_axes=-1)
    return along(jnp.eye(leaf.size, dtype=leaf.dtype).reshape(leaf.size, *leaf.shape))


@eqx.filter_jit
def _reduction(model: Any) -> tuple[Any, Float[Array, "q p"]]:
    """The equal model that the model's kind knows for derivatives, and the slopes of its numbers by the model's own."""
    reduced = kind_of(model).reduced
    assert reduced is not None
    arrays, static = eqx.partition(model, eqx.is_array)
    theta, unravel = ravel_pytree(arrays)
    numbers = lambda theta: ravel_pytree(reduced(eqx.combine(unravel(theta), static)))[0]  # noqa: E731
    return reduced(model), jax.jacfwd(numbers)(theta)


def _square(jacobian: Float[Array, "r p"]) -> Float[Array, "p p"]:
    """J^T J. It is symmetric, so that for a large model only one of each two blocks is computed."""
    if jacobian.shape[1] < LARGE:
        return jacobian.T @ jacobian
    parts = jnp.split(jacobian, list(range(COLUMNS, jacobian.shape[1], COLUMNS)), axis=1)
    upper = [[left.T @ right for right in parts[index:]] for index, left in enumerate(parts)]
    count = len(parts)
    return jnp.block(
        [
            [upper[row][column - row] if column >= row else upper[column][row - column].T for column in range(count)]
            for row in range(count)
        ]
    )


class LeastSquares:
    """Mean squared residual of a kind of model on a pool, as a function of its parameters in one vector."""

    def __init__(self, template: Any, pieces: Sequence[Any], root: Float[Array, "d d"]):
        self._template, self._like = template, outline(template)
        self._pieces, self._root = list(pieces), root
        self.contexts = sum(jax.tree.leaves(piece)[0].shape[0] for piece in self._pieces)

    def loss(self, theta: Float[np.ndarray, " p"]) -> float:
        """Mean squared residual; infinite where the model overflows."""
        # Put together inside of the program: outside it would take as long as a piece of a small pool.
        numbers = jnp.asarray(theta)
        parts = threads.map(lambda piece: float(_loss(self._like, numbers, piece, self._root)), self._pieces)
        return _finite(sum(parts) / self.contexts)

    def start(self, theta: Float[np.ndarray, " p"]) -> Point:
        """A fit that begins here."""
        return Point(theta, self.loss(theta))

    def step(self, point: Point) -> Point:
        """One accepted step, or the same point with `stalled` at its most if there is none."""
        model, slopes = rebuild(self._template, point.theta), None
        if kind_of(model).reduced is not None:
            model, slopes = _reduction(model)
        parts = list(threads.map(lambda piece: jax.device_get(_normal(model, piece, self._root)), self._pieces))
        # Summed in the order of the pieces, whichever thread was faster: a continued run repeats every bit.
        matrix, gradient = (np.sum([part[index] for part in parts], axis=0) / self.contexts for index in (0, 1))
        if slopes is not None:
            slopes = np.asarray(slopes)
            matrix, gradient = slopes.T @ matrix @ slopes, slopes.T @ gradient
        damping = point.damping
        if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(gradient))):
            return point._replace(stalled=STUCK)
        # One thread of BLAS: small systems gain nothing from more, and sums must not depend on how many there are.
        with _blas().limit(limits=1, user_api="blas"):
            while damping < MOST_DAMPING:
                theta = point.theta - _damped_solve(matrix, gradient, damping)
                loss = self.loss(theta)
                if loss < point.loss:
                    moved = 1 - loss / point.loss
                    return Point(
                        theta, loss, max(damping * FALL, LEAST_DAMPING), 0 if moved > 1e-5 else point.stalled + 1
                    )
                damping *= RISE
        return point._replace(stalled=STUCK)


@functools.cache
def _blas() -> ThreadpoolController:
    """Looked for once: finding the libraries takes longer than a small fit's step."""
    return ThreadpoolController()


def _damped_solve(
    matrix: Float[np.ndarray, "p p"], gradient: Float[np.ndarray, " p"], damping: float
) -> Float[np.ndarray, " p"]:
    """(J^T J + damping diag(J^T J))^-1 J^T r: the diagonal makes steps independent of the units of parameters."""
    diagonal = np.diag(matrix)
    scale = 1 / np.sqrt(np.maximum(diagonal, FLOOR * max(diagonal.max(), 1e-300)))
    scaled = matrix * scale[:, None] * scale[None, :]
    scaled[np.diag_indices_from(scaled)] += damping + FLOOR
    try:
        return scale * np.linalg.solve(scaled, scale * gradient)
    except np.linalg.LinAlgError:
        return scale * np.linalg.lstsq(scaled, scale * gradient, rcond=None)[0]


def _finite(value: float) -> float:
    return value if np.isfinite(value) else float("inf")
