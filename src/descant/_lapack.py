"""Spectra in JAX that can be batched on a CPU, and which functions call LAPACK by other ways."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap, sequential_vmap
from jaxtyping import Array, Float

from ._linalg import safe_reciprocal

Matrix = Float[Array, "d d"]


@custom_vmap
def _eigh(matrix: Matrix) -> tuple[Float[Array, " d"], Matrix]:
    values, vectors = jnp.linalg.eigh(matrix)
    return values, vectors


@_eigh.def_vmap
def _(size, batched, matrices):
    del size, batched

    def one_by_one(matrices):
        return jax.lax.map(_eigh, matrices)

    def at_once(matrices):
        values, vectors = jnp.linalg.eigh(matrices)
        return values, vectors

    return jax.lax.platform_dependent(matrices, cpu=one_by_one, default=at_once), (True, True)


@jax.custom_jvp
def eigh(matrix: Matrix) -> tuple[Float[Array, " d"], Matrix]:
    """Eigenvalues, rising, and eigenvectors of a symmetric matrix: `jax.numpy.linalg.eigh`, safe under `vmap` on a CPU.

    jaxlib (seen in 0.10.2) splits a batched LAPACK call over the very thread pool that it runs in, and waits there. Two
    such calls in one program occupy both threads of a two-core machine, and wait forever. Here a batch is a loop of
    single calls, which never wait; for the small matrices of this library that costs no time.
    """
    return _eigh(matrix)


@eigh.defjvp
def _(primals, tangents):
    (values, vectors), (change,) = eigh(*primals), tangents
    rotated = vectors.T @ change @ vectors
    apart = values[None, :] - values[:, None]
    turn = rotated * safe_reciprocal(apart, apart != 0)
    return (values, vectors), (jnp.diagonal(rotated), vectors @ turn)


# What the compiled programs of these call is LAPACK.
_LAPACK = {"cholesky", "eig", "eigh", "geqrf", "householder_product", "lu", "schur", "svd", "triangular_solve"}


def _is_jaxpr(leaf: Any) -> bool:
    return hasattr(leaf, "eqns") or hasattr(leaf, "jaxpr")


def calls_lapack(function: Callable, *arguments: Any) -> bool:
    """Whether a function factorises matrices by other ways than `eigh` above, which is safe in batches."""

    def found(jaxpr: Any) -> bool:
        for equation in jaxpr.eqns:
            name = equation.primitive.name
            if name in _LAPACK:
                return True
            inner = jax.tree.leaves(equation.params, is_leaf=_is_jaxpr)
            parts = (getattr(part, "jaxpr", part) for part in inner if name != "custom_vmap_call")
            if any(found(part) for part in parts if hasattr(part, "eqns")):
                return True
        return False

    return found(jax.make_jaxpr(function)(*arguments).jaxpr)


def one_by_one(function: Callable, *arguments: Any) -> Any:
    """The function's value; where it calls LAPACK and is vmapped, by a loop of single calls (see `eigh`)."""
    return (sequential_vmap(function) if calls_lapack(function, *arguments) else function)(*arguments)
