"""What a context's eigenvalues alone decide, by NumPy: the oracle's risk, and what GD++ loses to constant ridge."""

from functools import lru_cache
from operator import mul

import numpy as np
from scipy.stats import wishart

from ..._sampling import standard_error
from ...attention import GDPlusPlusTransformer
from ...estimators import gd_plus_plus_layer
from ...tasks import CategoricalNoise, LinearRegression, UniformNoise


def eigenvalues(task: LinearRegression, count: int, seed: int) -> np.ndarray:
    """Eigenvalues of X^T X of random contexts, (count, d), rising, inputs N(0, I) and n >= d."""
    return _eigenvalues(task.n, task.d, count, seed)


@lru_cache(maxsize=4)
def _eigenvalues(n: int, d: int, count: int, seed: int) -> np.ndarray:
    grams = wishart(n, np.eye(d)).rvs(count, random_state=np.random.default_rng(seed))
    found = np.linalg.eigvalsh(grams)
    found.setflags(write=False)
    return found


def oracle_risk(task: LinearRegression, count: int = 2_000, seed: int = 0) -> tuple[float, float]:
    """E sum_i sigma^2 / (lambda_i + sigma^2), the error of ridge regression that is told sigma; its standard error."""
    match task.noise:
        case UniformNoise(high=high):
            sigmas = float(high) * (np.arange(50) + 0.5) / 50
        case CategoricalNoise(sigmas=levels):
            sigmas = np.asarray(levels)
        case _:
            sigmas = np.array([float(task.noise.moment(1))])
    values = eigenvalues(task, count, seed)
    risks = np.mean([(sigma**2 / (values + sigma**2)).sum(axis=1) for sigma in sigmas], axis=0)
    return float(risks.mean()), float(standard_error(risks))


def gap_to_const_ridge(
    model: GDPlusPlusTransformer, task: LinearRegression, count: int, seed: int
) -> tuple[float, float]:
    """Half of how much larger a GD++ network's risk is than the best constant ridge's, with its standard error.

    GD++ answers f(X^T X) X^T y. Given the inputs, labels have covariance X X^T + E sigma^2 I, and the difference of the
    two risks is sum_i lambda_i (lambda_i + c) (f(lambda_i) - 1 / (lambda_i + c))^2 with c = E sigma^2: never negative.
    """
    values = eigenvalues(task, count, seed)
    c = float(task.noise.moment(2))
    polynomial, m = np.zeros_like(values), np.ones_like(values)
    for w_xx, w_yx in zip(np.asarray(model.w_xx), np.asarray(model.w_yx), strict=True):
        polynomial, m = gd_plus_plus_layer(polynomial, m, -w_yx, -w_xx, values, 1.0, times=mul)
    lost = (values * (values + c) * (polynomial - 1 / (values + c)) ** 2).sum(axis=1) / 2
    return float(lost.mean()), float(standard_error(lost))
