"""Single-head LSA on isotropic problems: its optimum down to one number."""

import numpy as np
from jaxtyping import Float, Inexact

from ._gram import fourth_moment
from ._problem import Whitened

# Rounding of a whitened covariance; beyond it a problem is not isotropic.
ISOTROPIC = 1e-12
# Two looks at a grid of all t end a millionth from the optimum, and a few Newton steps at the last digit.
GRID, LOOKS, NEWTON_STEPS = 2001, 2, 3


def one_head_isotropic_minimum(d: int, n: int, mean_norm: float, prior_variance: float, sigma: float) -> float:
    """The least risk of single-head LSA for inputs N(0, I), prior N(mu, prior_variance I) with |mu| = mean_norm.

    Exact up to a minimisation over one real number t, the weight of mu against the labels in the value vector; what is
    left is a 2 x 2 least-squares problem along mu and a scalar one in each of the d - 1 directions across it.

    **Arguments:** `prior_variance` is positive; `sigma` is the fixed noise level.

    >>> round(one_head_isotropic_minimum(d=5, n=5, mean_norm=5**0.5, prior_variance=1.0, sigma=0.0), 4)
    4.5566
    """
    if prior_variance <= 0:
        raise ValueError(f"prior_variance is {prior_variance}; expected a positive number.")
    mean = np.zeros(d)
    mean[0] = mean_norm
    white = Whitened(mean, prior_variance * np.eye(d), n, sigma**2, sigma**4, np.eye(d))
    return float(_risks(white, np.array([_best_weight(white)]))[0])


def best_single_value(white: Whitened) -> Float[np.ndarray, "s 1"] | None:
    """The value vector of the best single head, labels in units of their size; None for what is not isotropic."""
    white = white.in_units(white.label_size() or 1.0)
    psi = white.cov[0, 0] if white.k > 0 else 0.0
    if psi <= 0 or np.abs(white.cov - psi * np.eye(white.k)).max() > ISOTROPIC * psi:
        return None
    size = np.linalg.norm(white.mean)
    along = white.mean / size if size > 0 else white.mean
    return np.append(_best_weight(white) * along, 1.0)[:, None]


def _risks(white: Whitened, t: Inexact[np.ndarray, " g"]) -> Inexact[np.ndarray, " g"]:
    """The least risk for each weight t of the prior mean in the value vector."""
    d, n, psi, m = white.k, white.n, white.cov[0, 0], np.linalg.norm(white.mean)
    spread = (n + d + 1 + white.noise2 / psi) / n
    kappa = d * psi + white.noise2
    labels = kappa + 2 * psi / n
    squares = (1 + 2 / n) * fourth_moment(white.cov, white.noise2, white.noise4)
    # The 2 x 2 problem along the mean, by hand: normal @ solution = right.
    first, second = t * m + psi, t * psi + m * kappa
    one, corner, other = t**2 * (1 + 2 / n) + psi * spread, t * (psi * spread + labels), t**2 * psi * spread + squares
    gained = (other * first**2 - 2 * corner * first * second + one * second**2) / (one * other - corner**2)
    return m**2 + psi - gained + (d - 1) * (psi - psi**2 / (t**2 / n + psi * spread))


def _best_weight(white: Whitened) -> float:
    """The best t. There are two basins at most (t of either sign): a look at all t brackets the better one."""
    # In t / (1 + |t|), which is between -1 and 1.
    share, width = 0.0, 0.999
    for _ in range(LOOKS):
        grid = np.clip(share + np.linspace(-width, width, GRID), -0.999, 0.999)
        share, width = grid[np.argmin(_risks(white, grid / (1 - np.abs(grid))))], 2 * width / GRID
    t = np.array([share / (1 - abs(share))])
    for _ in range(NEWTON_STEPS):
        apart = 1e-4 * (1 + np.abs(t))
        with np.errstate(divide="ignore", invalid="ignore"):  # where the risk does not depend on t
            moved = t - 2 * apart * _slope(white, t) / (_slope(white, t + apart) - _slope(white, t - apart))
        t = moved if np.all(_risks(white, moved) <= _risks(white, t)) else t
    return float(t[0])


def _slope(white: Whitened, t: Float[np.ndarray, " g"]) -> Float[np.ndarray, " g"]:
    """The derivative of the risk in t, to the last digit: the imaginary part of a step in that direction."""
    return np.imag(_risks(white, t + 1e-30j)) / 1e-30
