"""What LSA without an initial guess loses, whatever the law of the inputs.

It rests on one number of the inputs, their *signal*: the largest (E q)^2 / Var q over quadratic forms q = `<x, B x>`.
Derived in docs/theory/gram.md, "Other inputs".
"""

import numpy as np

from ...tasks import LinearRegression, VectorMoments


def radial_signal(square: float, variance: float) -> float:
    """Of x = r u, u on a sphere, or of any linear image of it: (E r^2)^2 / Var r^2, infinite if r is constant."""
    return square**2 / variance if variance > 0 else np.inf


def independent_signal(kurtosis: np.ndarray) -> float:
    """Of independent coordinates, symmetric about 0, with the given E x^4 / (E x^2)^2."""
    excess = np.asarray(kurtosis, dtype=float) - 1
    return float(np.sum(1 / excess)) if (excess > 0).all() else np.inf


def general_signal(moments: VectorMoments) -> float:
    """Of any inputs no form of which is constant: m^T C^-1 m, m and C the mean and covariance of all x_i x_j."""
    assert moments.fourth is not None
    d = moments.mean.shape[0]
    rows, columns = np.triu_indices(d)
    units = np.zeros((rows.size, d, d))
    units[np.arange(rows.size), rows, columns] += 0.5
    units[np.arange(rows.size), columns, rows] += 0.5
    mean = moments.second[rows, columns]
    cov = moments.fourth(units)[:, rows, columns] - np.outer(mean, mean)
    return float(mean @ np.linalg.solve(cov, mean))


def closed_gap(task: LinearRegression, signal: float) -> float:
    """|mu|^2 / (1 + n signal + sigma^4 / V): what LSA with d + 1 heads loses to the best affine function of G.

    V = E Var(|y - X mu|^2 / n given X), for Gaussian tasks, Gaussian label noise and a fixed noise level. Without noise
    it is not needed, and tasks may have any law.
    """
    x, w, noise, n = task.inputs.moments(task.d), task.prior.moments(task.d), float(task.noise.moment(2)), task.n
    size = float(w.mean @ x.second @ w.mean)
    helped = 0.0
    if noise > 0:
        assert x.fourth is not None
        spread = w.cov @ x.second
        squares = np.sum(w.cov * x.fourth(w.cov)) / n + (1 - 1 / n) * np.sum(spread * spread.T)
        helped = noise**2 / float(2 * squares + 4 * noise * np.trace(spread) / n + 2 * noise**2 / n)
    return size / (1 + n * signal + helped) if np.isfinite(signal) else 0.0
