"""Square roots, spectra and inverses of covariances that may be rank deficient."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap, sequential_vmap
from jaxtyping import Array, Float

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


def rank_tolerance(eigenvalues: Float[Array, " d"]) -> Float[Array, ""]:
    """Eigenvalues up to this size are rounding; the rule of `numpy.linalg.matrix_rank`."""
    return jnp.max(jnp.abs(eigenvalues)) * eigenvalues.shape[0] * jnp.finfo(eigenvalues.dtype).eps


def from_spectrum(values: Float[Array, " d"], vectors: Matrix) -> Matrix:
    """The symmetric matrix with these eigenvalues and eigenvectors."""
    return (vectors * values[None, :]) @ vectors.T


def psd_root(cov: Matrix) -> Matrix:
    """The symmetric R with R R = cov, for a positive semi-definite cov: `scipy.linalg.sqrtm` where that is real."""
    values, vectors = eigh(cov)
    # Rounding of 1e-16 in an eigenvalue that should be 0 is 1e-8 in its root.
    return from_spectrum(jnp.sqrt(jnp.where(values > rank_tolerance(values), values, 0.0)), vectors)


def safe_reciprocal(values: Float[Array, "*shape"], nonzero) -> Float[Array, "*shape"]:
    """1 / values where `nonzero`, else 0; no infinity arises on the way, so gradients stay finite too."""
    return jnp.where(nonzero, 1.0 / jnp.where(nonzero, values, 1.0), 0.0)


def whitened_square(v: Float[Array, " d"], cov: Matrix) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """`<v, cov^-1 v>` and log det cov, for a covariance of full rank."""
    values, vectors = eigh(cov)
    return jnp.sum((vectors.T @ v) ** 2 / values), jnp.sum(jnp.log(values))


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
