"""Square roots, spectra and inverses of covariances that may be rank deficient."""

import jax.numpy as jnp
from jaxtyping import Array, Float

Matrix = Float[Array, "d d"]


def rank_tolerance(eigenvalues: Float[Array, " d"]) -> Float[Array, ""]:
    """Eigenvalues up to this size are rounding; the rule of `numpy.linalg.matrix_rank`."""
    return jnp.max(jnp.abs(eigenvalues)) * eigenvalues.shape[0] * jnp.finfo(eigenvalues.dtype).eps


def psd_root(cov: Matrix) -> Matrix:
    """The symmetric R with R R = cov, for a positive semi-definite cov. Equals `scipy.linalg.sqrtm` where that is real."""
    values, vectors = jnp.linalg.eigh(cov)
    return (vectors * jnp.sqrt(jnp.maximum(values, 0.0))) @ vectors.T


def safe_reciprocal(values: Float[Array, "*shape"], nonzero) -> Float[Array, "*shape"]:
    """1 / values where `nonzero`, else 0; no infinity arises on the way, so gradients stay finite too."""
    return jnp.where(nonzero, 1.0 / jnp.where(nonzero, values, 1.0), 0.0)
