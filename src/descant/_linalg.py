"""Square roots, spectra and inverses of covariances that may be rank deficient, in NumPy or JAX."""

from typing import Any

import numpy as np
from jaxtyping import Float

from ._arrays import Arrays, Scalar, namespace


def eigh(matrix: Float[Arrays, "d d"]) -> tuple[Any, Any]:
    """Eigenvalues, rising, and eigenvectors of a symmetric matrix; in JAX safe under `vmap` on a CPU."""
    if isinstance(matrix, np.ndarray):
        return np.linalg.eigh(matrix)
    from ._lapack import eigh  # noqa: PLC0415 - it imports JAX, which whoever has such an array has too

    return eigh(matrix)


def rank_tolerance(eigenvalues: Float[Arrays, " d"]) -> Scalar:
    """Eigenvalues up to this size are rounding; the rule of `numpy.linalg.matrix_rank`."""
    return abs(eigenvalues).max() * eigenvalues.shape[0] * np.finfo(eigenvalues.dtype).eps


def from_spectrum(values: Float[Arrays, " d"], vectors: Float[Arrays, "d d"]) -> Float[Arrays, "d d"]:
    """The symmetric matrix with these eigenvalues and eigenvectors."""
    return (vectors * values[None, :]) @ vectors.T


def psd_root(cov: Float[Arrays, "d d"]) -> Float[Arrays, "d d"]:
    """The symmetric R with R R = cov, for a positive semi-definite cov: `scipy.linalg.sqrtm` where that is real."""
    xp = namespace(cov)
    values, vectors = eigh(cov)
    # Rounding of 1e-16 in an eigenvalue that should be 0 is 1e-8 in its root.
    return from_spectrum(xp.sqrt(xp.where(values > rank_tolerance(values), values, 0.0)), vectors)


def safe_reciprocal(values: Float[Any, "*shape"], nonzero: Any) -> Any:
    """1 / values where `nonzero`, else 0; no infinity arises on the way, so gradients stay finite too."""
    xp = namespace(values)
    return xp.where(nonzero, 1.0 / xp.where(nonzero, values, 1.0), 0.0)


def whitened_square(v: Float[Arrays, " d"], cov: Float[Arrays, "d d"]) -> tuple[Any, Any]:
    """`<v, cov^-1 v>` and log det cov, for a covariance of full rank."""
    xp = namespace(v, cov)
    values, vectors = eigh(cov)
    return xp.sum((vectors.T @ v) ** 2 / values), xp.sum(xp.log(values))
