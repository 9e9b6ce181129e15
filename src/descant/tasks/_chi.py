"""What a standard normal number stands for in a chi law: its quantile there, from a table."""

import functools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import special

# Normal numbers between which the table reaches; a number beyond is drawn once in 10^22 draws, and cut off there.
REACH = 9.5
# Steps of the table per unit. Cubics between them are right to 1e-9.
FINENESS = 48
# From so many degrees of freedom on SciPy's quantiles lose digits, and the series has them all.
MANY = 10**5


@functools.lru_cache(maxsize=64)
def _table(freedoms: tuple[int, ...]) -> Float[np.ndarray, "m steps 4"]:
    """Coefficients of cubics that pass through quantiles with their slopes, one row per degrees of freedom."""
    nodes = np.arange(-REACH * FINENESS, REACH * FINENESS + 1) / FINENESS
    freedom = np.asarray(freedoms, float)[:, None]
    squares = np.where(freedom < MANY, _squares(np.minimum(freedom, MANY), nodes), _series(freedom, nodes))
    value = np.sqrt(squares)
    # d value / d node is the density of the normal law over that of the chi law.
    half = freedom / 2
    log_density = (freedom - 1) * np.log(value) - squares / 2 - (half - 1) * np.log(2) - special.gammaln(half)
    slope = np.exp(-(nodes**2) / 2 - log_density) / np.sqrt(2 * np.pi) / FINENESS
    slope = np.where(freedom < MANY, slope, np.gradient(value, axis=1))
    rise = np.diff(value, axis=1)
    first, last = slope[:, :-1], slope[:, 1:]
    return np.stack([value[:, :-1], first, 3 * rise - 2 * first - last, first + last - 2 * rise], axis=-1)


def _squares(freedom: Float[np.ndarray, "m 1"], nodes: Float[np.ndarray, " steps"]) -> Float[np.ndarray, "m steps"]:
    """Chi-square quantiles, each tail from its own end: quantiles near 1 would be rounded to it."""
    half = freedom / 2
    lower, upper = special.gammaincinv(half, special.ndtr(nodes)), special.gammainccinv(half, special.ndtr(-nodes))
    return 2 * np.where(nodes < 0, lower, upper)


def _series(freedom: Float[np.ndarray, "m 1"], z: Float[np.ndarray, " steps"]) -> Float[np.ndarray, "m steps"]:
    """The same by the series of Cornish and Fisher."""
    root = np.sqrt(2 * freedom)
    large = freedom + root * z + 2 / 3 * (z**2 - 1) + (z**3 - 7 * z) / (9 * root)
    return large - (6 * z**4 + 14 * z**2 - 32) / (405 * freedom) + (9 * z**5 + 256 * z**3 - 433 * z) / (2430 * root**3)


def chi_quantiles(normals: Float[Array, " m"], freedoms: Sequence[int]) -> Float[Array, " m"]:
    """The roots of chi-square numbers with these degrees of freedom, one per normal number, at its quantile.

    A sum of n squares of normal numbers has the root's square for its law, whatever n: one number instead of n. The
    rejection samplers of `jax.random.chisquare` take ten times as long to run, and seconds to compile.

    >>> import jax
    >>> normals = jax.random.normal(jax.random.key(0), (100_000,))
    >>> roots = jax.vmap(lambda number: chi_quantiles(number[None], (20,)))(normals)
    >>> round(float((roots**2).mean()), 1)
    20.0
    """
    table = jnp.asarray(_table(tuple(freedoms)), normals.dtype)
    place = (jnp.clip(normals, -REACH, REACH) + REACH) * FINENESS
    step = jnp.clip(jnp.floor(place), 0, table.shape[1] - 1)
    share = place - step
    constant, linear, square, cube = table[jnp.arange(len(freedoms)), step.astype(int)].T
    return constant + share * (linear + share * (square + share * cube))
