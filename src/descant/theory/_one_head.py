"""Single-head LSA on isotropic problems: its optimum down to one number."""

import numpy as np
from scipy.optimize import minimize_scalar


def one_head_isotropic_minimum(d: int, n: int, mean_norm: float, prior_variance: float, sigma: float) -> float:
    """The least risk of single-head LSA for inputs N(0, I), prior N(mu, prior_variance I) with |mu| = mean_norm.

    Exact up to a minimisation over one real number t, the weight of mu against the labels in the value vector; what is
    left is a 2 x 2 least-squares problem along mu and a scalar one in each of the d - 1 directions across it.

    **Arguments:** `prior_variance` is positive; `sigma` is the fixed noise level.

    >>> round(one_head_isotropic_minimum(d=5, n=5, mean_norm=5**0.5, prior_variance=1.0, sigma=0.0), 4)
    4.5566
    """
    psi, m, noise = prior_variance, mean_norm, sigma**2
    if psi <= 0:
        raise ValueError(f"prior_variance is {psi}; expected a positive number.")
    spread = (n + d + 1 + noise / psi) / n
    kappa = d * psi + noise
    labels = kappa + 2 * psi / n
    squares = kappa**2 + 2 * (kappa**2 + 2 * d * psi**2) / n + 2 * d * psi**2

    def risk(t: float) -> float:
        right = np.array([t * m + psi, t * psi + m * kappa])
        corner = t * psi * spread + t * labels
        normal = np.array([[t**2 * (1 + 2 / n) + psi * spread, corner], [corner, t**2 * psi * spread + squares]])
        along = m**2 + psi - float(right @ np.linalg.solve(normal, right))
        return along + (d - 1) * (psi - psi**2 / (t**2 / n + psi * spread))

    # Two basins at most (t of either sign); a coarse look in t / (1 + |t|) brackets the better one.
    grid = np.linspace(-0.999, 0.999, 2001)
    t = grid / (1 - np.abs(grid))
    best = int(np.argmin([risk(value) for value in t]))
    bracket = (t[max(best - 1, 0)], t[min(best + 1, t.size - 1)])
    found = minimize_scalar(risk, bounds=bracket, method="bounded", options={"xatol": 1e-12})
    return risk(float(found.x))  # pyright: ignore[reportAttributeAccessIssue]
