"""Exact risks of the estimators that know nothing of the prior."""

import math

import numpy as np

from .._arrays import Number
from ._problem import AbstractProblem, Whitened


def zero_risk(problem: AbstractProblem) -> Number:
    """Risk of predicting 0: E `<w, x_query>`^2 = tr Lambda (Psi + mu mu^T), the size of the signal.

    >>> from descant.theory import Problem
    >>> float(zero_risk(Problem(np.ones(2), np.eye(2), np.eye(2), 8, sigma=0.5)))
    4.0
    """
    return problem.signal + problem.size(problem.mean)


def _mean_inverse_trace(size: int, freedom: int) -> float:
    """E tr W^-1 for a Wishart matrix of this size and degrees of freedom >= size: infinite up to size + 1."""
    if size == 0:
        return 0.0
    return size / (freedom - size - 1) if freedom > size + 1 else math.inf


def ols_risk(problem: AbstractProblem) -> float | None:
    """Risk of least squares (least norm when it is not unique), or None where no closed form is known.

    With k the rank of Lambda: E sigma^2 k / (n - k - 1) for n >= k. For n < k the least-norm solution sees a random
    n-dimensional subspace; if Lambda is a multiple of a projection it loses (1 - n/k) of the signal, and the noise
    costs E sigma^2 n / (k - n - 1). Infinite where noise meets n = k or n = k +- 1.

    >>> from descant.theory import Problem
    >>> ols_risk(Problem(np.ones(2), np.eye(2), np.eye(2), 13, sigma=1.0))
    0.2
    >>> ols_risk(Problem(np.ones(2), np.eye(2), np.eye(2), 3, sigma=1.0))
    inf
    """
    white = Whitened.of(problem)
    k, n, noise2 = white.k, white.n, white.noise2
    if n >= k:
        return noise2 * _mean_inverse_trace(k, n) if noise2 > 0 else 0.0
    scales = np.linalg.norm(white.forth, axis=1)
    if not np.allclose(scales, scales[0], rtol=1e-9):
        return None
    lost = (1 - n / k) * float(np.trace(white.cov) + white.mean @ white.mean)
    return lost + (noise2 * _mean_inverse_trace(n, k) if noise2 > 0 else 0.0)


def noiseless_oracle_risk(problem: AbstractProblem) -> float | None:
    """The Bayes (and oracle ridge) risk where it has a closed form without noise; None elsewhere.

    Zero if the context determines every direction the prior leaves open; otherwise, for Lambda^(1/2) Psi Lambda^(1/2)
    a multiple of a projection of rank r > n, the (1 - n/r) of the signal that n random directions miss.

    >>> from descant.theory import Problem
    >>> noiseless_oracle_risk(Problem(np.ones(4), np.eye(4), np.eye(4), 3, sigma=0.0))
    1.0
    """
    if float(problem.noise2) > 0:
        return None
    phi = np.maximum(np.linalg.eigvalsh(Whitened.of(problem).cov), 0.0)
    phi = phi[phi > 1e-12 * phi.max(initial=0.0)]
    if problem.n >= phi.size:
        return 0.0
    return float((1 - problem.n / phi.size) * phi.sum()) if np.allclose(phi, phi[0], rtol=1e-9) else None
