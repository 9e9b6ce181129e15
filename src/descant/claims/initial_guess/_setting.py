"""The paper's synthetic setting, d = n = 10 without noise; others with covariances that are no multiples of I."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...tasks import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression
from ...theory import Problem

D = N = 10
# Tasks that vary more in some directions than in others: there a scalar is not the best step.
STRETCHED = (4.0, 1.0, 0.25, 0.25)
# Covariances of tasks and of inputs that are not diagonal, and do not commute.
CROOKED_TASKS = np.array([[1.0, 0.4, 0.0], [0.4, 0.7, -0.2], [0.0, -0.2, 0.5]])
CROOKED_INPUTS = np.array([[1.5, -0.3, 0.2], [-0.3, 0.8, 0.1], [0.2, 0.1, 0.6]])


def problem(c: float, *, d: int = D, n: int = N, sigma: float = 0.0) -> Problem:
    """Prior N(c (1, ..., 1), I), inputs N(0, I)."""
    return Problem(c * jnp.ones(d), jnp.eye(d), jnp.eye(d), n, sigma=sigma)


def task(c: float, *, d: int = D, n: int = N, sigma: float = 0.0) -> LinearRegression:
    """The same as a law of prompts."""
    return LinearRegression(d, n, GaussianPrior(c * jnp.ones(d), jnp.eye(d)), noise=FixedNoise(sigma))


def stretched(mean: float | Array = 0.0) -> Problem:
    """Tasks N(mean, diag(4, 1, 1/4, 1/4)), inputs N(0, I), d = n = 4, no noise."""
    return Problem(mean + jnp.zeros(4), jnp.diag(jnp.array(STRETCHED)), jnp.eye(4), 4, sigma=0.0)


def crooked(mean: float | Array = 0.0) -> Problem:
    """Tasks and inputs of other covariances, d = 3, n = 5, with noise of the variance 1/2."""
    return Problem.of(crooked_task(mean))


def crooked_task(mean: float | Array = 0.0) -> LinearRegression:
    """The same as a law of prompts."""
    prior = GaussianPrior(mean + jnp.zeros(3), jnp.asarray(CROOKED_TASKS))
    return LinearRegression(3, 5, prior, inputs=GaussianInputs(jnp.asarray(CROOKED_INPUTS)), noise=FixedNoise(0.5**0.5))


def one_step(d: int, n: int, sigma: float = 0.0) -> float:
    """Least risk of one gradient step from the right start, for the prior covariance I, where a scalar step does.

    d (d + 1 + k) / (n + d + 1 + k) with k = sigma^2.
    """
    return d * (d + 1 + sigma**2) / (n + d + 1 + sigma**2)
