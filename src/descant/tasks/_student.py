"""The scale s of Student-t vectors sqrt(s) v, v Gaussian: df over a chi-square number of df degrees of freedom."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .._linalg import whitened_square

# More numbers than these for a scale alone would not be faster than a draw.
MOST_NUMBERS = 32


def check_df(name: str, df: float, above: float = 0.0) -> None:
    """Check degrees of freedom."""
    if not (math.isfinite(df) and df > above):
        raise ValueError(f"{name} is {df}; expected a number of degrees of freedom above {above:g}.")


def drawn_scale(df: float, dtype, *, key: PRNGKeyArray) -> tuple[Float[Array, ""], PRNGKeyArray]:
    """Draw a scale; and another key."""
    for_scale, other = jax.random.split(key)
    return df / jax.random.chisquare(for_scale, jnp.asarray(df, dtype), dtype=dtype), other


def scale_numbers(df: float) -> int | None:
    """How many standard normal numbers make a scale: df, if that is a whole number."""
    return int(df) if df == int(df) and df <= MOST_NUMBERS else None


def placed_scale(df: float, normals: Float[Array, " df"]) -> Float[Array, ""]:
    """The scale that df standard normal numbers stand for."""
    return df / jnp.sum(normals**2)


def log_student_t(v: Float[Array, " d"], scale: Float[Array, "d d"], df: float) -> Float[Array, ""]:
    """The log density of a multivariate Student-t law about 0: `scipy.stats.multivariate_t`."""
    d = v.shape[0]
    constant = math.lgamma((df + d) / 2) - math.lgamma(df / 2) - d / 2 * math.log(df * math.pi)
    square, log_det = whitened_square(v, scale)
    return constant - 0.5 * log_det - (df + d) / 2 * jnp.log1p(square / df)
