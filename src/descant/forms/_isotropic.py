"""LSA with any number of heads on isotropic problems: its optimum down to one number.

H heads reach the matrices T_l with P T_l P = 0, where P projects on the r = k + 1 - H directions that no value reads.
On an isotropic problem what that costs depends on P through three numbers: with e the direction of the labels, a that
of the prior mean, and f the unit vector along P e, they are rho = `<e, f>`, u = `<a, f>` and |P a|. The last cancels,
and in u the cost is linear, so |u| is as large as it may be: f lies in the plane of a and e. The best values are then
one that mixes the prior mean with the labels, t a + e, and H - 1 inputs across the mean, whichever: one number is left.
"""

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
    return float(_one_head_risks(white, np.array([_best_weight(white, 1)]))[0])


def best_values(white: Whitened, heads: int) -> Float[np.ndarray, "s H"] | None:
    """The values of the best `heads` heads, at most k, labels in units of their size; None of what is not isotropic."""
    white = white.in_units(white.label_size() or 1.0)
    psi = white.cov[0, 0] if white.k > 0 else 0.0
    if psi <= 0 or np.abs(white.cov - psi * np.eye(white.k)).max() > ISOTROPIC * psi:
        return None
    size = np.linalg.norm(white.mean)
    along = white.mean / size if size > 0 else np.eye(white.k)[0]
    # The first column is along the mean, up to its sign, and the others across it.
    across = np.linalg.qr(np.column_stack([along, np.eye(white.k)])).Q[:, 1:heads]
    mixed = np.append(_best_weight(white, heads) * along, 1.0)
    return np.column_stack([mixed, np.vstack([across, np.zeros((1, heads - 1))])])


def _one_head_risks(white: Whitened, t: Inexact[np.ndarray, " g"]) -> Inexact[np.ndarray, " g"]:
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


def _costs(white: Whitened, heads: int, t: Inexact[np.ndarray, " g"]) -> Inexact[np.ndarray, " g"]:
    """What `heads` heads lose against any number of them, for each weight t of the prior mean in the mixed value.

    With g_l = Q^T T_l Q of the best T_l of all, Q the directions that no value reads, it is the sum of
    `<g_l, M^-1 g_l>`, where M takes S to Q^T N^-1(Q S Q^T) Q and N is `_gram.second_moment`.
    """
    k, n, psi, m = white.k, white.n, white.cov[0, 0], np.linalg.norm(white.mean)
    kappa = k * psi + white.noise2
    labels = kappa + 2 * psi / n
    squares = (1 + 2 / n) * fourth_moment(white.cov, white.noise2, white.noise4)
    # f = (a - t e) / sqrt(1 + t^2): the squares of its parts along the mean and the labels, and their product.
    inputs_part, label_part, both = 1 / (1 + t**2), t**2 / (1 + t**2), -t / (1 + t**2)
    cross = 2 * psi + 2 / n * (kappa + psi)  # what N multiplies the xy block with
    determinant = (k + 2 / n) * squares - k * labels**2

    def inverse(trace, label):
        """Of N on xx = B, yy = label: n/2 times B less this multiple of the identity, and the yy entry."""
        entry = ((k + 2 / n) * label - labels * trace) / determinant
        return (squares * trace - k * labels * label) / determinant + labels * entry, entry

    def compressed(along, beside):
        """M of along f f^T + beside (the identity beside f), in the same two numbers."""
        less, entry = inverse(along * inputs_part + (k - heads) * beside, along * label_part)
        first = n / 2 * inputs_part * (along * inputs_part - less) + label_part * entry
        return first + 2 * along * inputs_part * label_part / cross, n / 2 * (beside - less)

    less, entry = inverse(k, kappa)
    inputs_weight, label_weight = m * n / 2 * (1 - less), m * entry
    along = 2 * psi / cross * both + inputs_weight * inputs_part + label_weight * label_part
    (one, corner), (mixed, other) = compressed(1.0, 0.0), compressed(0.0, 1.0)
    solved = other * along - mixed * inputs_weight, one * inputs_weight - corner * along
    plane = (along * solved[0] + (k - heads) * inputs_weight * solved[1]) / (one * other - corner * mixed)
    return plane + 2 * (psi / cross) ** 2 * label_part * (k - heads) / (n / 2 * inputs_part + label_part / cross)


def _best_weight(white: Whitened, heads: int) -> float:
    """The best t. There are two basins at most (t of either sign): a look at all t brackets the better one."""

    def risks(t):
        return _one_head_risks(white, t) if heads == 1 else _costs(white, heads, t)

    def slopes(t):
        # The derivative to the last digit: the imaginary part of a step in that direction.
        return np.imag(risks(t + 1e-30j)) / 1e-30

    # In t / (1 + |t|), which is between -1 and 1.
    share, width = 0.0, 0.999
    for _ in range(LOOKS):
        grid = np.clip(share + np.linspace(-width, width, GRID), -0.999, 0.999)
        share, width = grid[np.argmin(risks(grid / (1 - np.abs(grid))))], 2 * width / GRID
    t = float(share / (1 - abs(share)))
    for _ in range(NEWTON_STEPS):
        apart = 1e-4 * (1 + abs(t))
        here, above, below = slopes(np.array([t, t + apart, t - apart]))
        with np.errstate(divide="ignore", invalid="ignore"):  # where the risk does not depend on t
            moved = t - 2 * apart * here / (above - below)
        before, after = risks(np.array([t, moved]))
        t = float(moved) if after <= before else t
    return t
