"""The risk that no predictor can beat."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._sampling import mean_over_keys
from ..tasks import AbstractTask


class PosteriorRisk(NamedTuple):
    """Risks of the posterior mean and of the oracle that is told sigma, with standard errors."""

    bayes: float
    bayes_error: float
    oracle: float
    oracle_error: float


def _conditional_risks(task: AbstractTask, key: PRNGKeyArray):
    moments = task.sample_moments(key=key)
    inputs = task.query_metric()
    bayes, oracle = task.posterior(moments).cov, task.posterior(moments, moments.sigma).cov
    return jnp.stack([jnp.sum(inputs * bayes), jnp.sum(inputs * oracle)])


def posterior_risk(task: AbstractTask, *, key: PRNGKeyArray, samples: int = 32_768) -> PosteriorRisk:
    """E tr(Lambda Cov(w | context)), by Monte Carlo over contexts, for tasks that know their posterior.

    The posterior covariance is exact for each context, so only the contexts' own spread is left: a far smaller variance
    than that of squared errors.

    **Arguments:** `samples` contexts are drawn with `key`. `Unknown` if the task doesn't know its posterior.

    **Returns:** a `PosteriorRisk`; `bayes` and `oracle` are the same where the noise level is fixed.
    """
    means, errors = mean_over_keys(_conditional_risks, task, key, samples)
    return PosteriorRisk(float(means[0]), float(errors[0]), float(means[1]), float(errors[1]))
