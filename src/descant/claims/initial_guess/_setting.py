"""The paper's synthetic setting, d = n = 10 without noise, and what its claims share."""

import jax.numpy as jnp

from ...tasks import FixedNoise, GaussianPrior, LinearRegression
from ...theory import Problem

D = N = 10


def problem(c: float, *, d: int = D, n: int = N, sigma: float = 0.0) -> Problem:
    """Prior N(c (1, ..., 1), I), inputs N(0, I)."""
    return Problem(c * jnp.ones(d), jnp.eye(d), jnp.eye(d), n, sigma=sigma)


def task(c: float, *, d: int = D, n: int = N, sigma: float = 0.0) -> LinearRegression:
    """The same as a law of prompts."""
    return LinearRegression(d, n, GaussianPrior(c * jnp.ones(d), jnp.eye(d)), noise=FixedNoise(sigma))


def one_step(d: int, n: int, sigma: float = 0.0) -> float:
    """Least risk of one gradient step from the right start, for the prior covariance I.

    d (d + 1 + k) / (n + d + 1 + k) with k = sigma^2.
    """
    return d * (d + 1 + sigma**2) / (n + d + 1 + sigma**2)
