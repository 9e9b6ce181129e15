"""The problems that the claims of this paper are tried on."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ...tasks import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression


def isotropic(d: int, n: int, mean: float, sigma: float = 0.0) -> LinearRegression:
    """Inputs N(0, I) and tasks N(mean (1, ..., 1), I), as in the paper's experiments."""
    return LinearRegression(d, n, prior=GaussianPrior(mean * jnp.ones(d), jnp.eye(d)), noise=FixedNoise(sigma))


def crooked(d: int, n: int, sigma: float, *, key: PRNGKeyArray, rank: int | None = None) -> LinearRegression:
    """A problem without any symmetry: random covariances of inputs and tasks, a random prior mean.

    With `rank`, inputs fill only so many dimensions.
    """
    normal = jax.random.normal(key, (2 * d + 1, d))
    first, second, least = normal[:d, : rank or d], normal[d : 2 * d], 0.2 * jnp.eye(d)
    inputs, cov = first @ first.T / d + (least if rank is None else 0.0), second @ second.T / d + least
    return LinearRegression(d, n, GaussianPrior(normal[-1], cov), GaussianInputs(inputs), FixedNoise(sigma))
