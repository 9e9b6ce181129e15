"""Which predictors have a risk in closed form."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from .._predictor import AbstractPredictor
from .._unknown import Unknown
from ..estimators import (
    GD,
    OLS,
    AdaRidge,
    Bayes,
    ConstRidge,
    GDBeta,
    OracleRidge,
    PreconditionedGD,
    TunedRidge,
    Zero,
)
from ..tasks import GaussianInputs, LinearRegression
from ..theory import (
    Problem,
    attending_risk,
    gd_beta_risk,
    gd_risk,
    gram_risk,
    noiseless_oracle_risk,
    ols_risk,
    zero_risk,
)


def exact_risk(predictor: AbstractPredictor, task: LinearRegression) -> float | None:
    """The predictor's risk in closed form, or None where none is known."""
    if not isinstance(task.inputs, GaussianInputs):
        return None
    value = _closed_form(predictor, Problem.of(task), task)
    return None if value is None else float(value)


def _closed_form(predictor: AbstractPredictor, problem: Problem, task: LinearRegression) -> Array | float | None:
    """One line per kind of predictor; a kind that is not listed has no closed form."""
    match predictor:
        case Zero():
            return zero_risk(problem)
        case OLS():
            return ols_risk(problem)
        case GD(start=start, steps=steps) if steps.shape == (1,):
            return gd_risk(problem, start, steps[0])
        case PreconditionedGD(gamma=gamma):
            return gd_beta_risk(problem, jnp.zeros(problem.d), gamma)
        case GDBeta(beta=beta, gamma=gamma):
            return gd_beta_risk(problem, beta, gamma)
    try:
        offset, tensor, query_masked = predictor.gram_affine(task.d, task.n)
        return (gram_risk if query_masked else attending_risk)(problem, offset, tensor)
    except Unknown:
        pass
    match predictor:
        case _ if _is_posterior_mean_without_noise(predictor, task):
            return noiseless_oracle_risk(problem)
    return None


def _is_posterior_mean_without_noise(predictor: AbstractPredictor, task: LinearRegression) -> bool:
    """Without noise the whole ridge family is the posterior mean, if it believes in the task's prior."""
    if float(task.noise.moment(2)) > 0:
        return False
    match predictor:
        case OracleRidge(prior=prior):
            fits = True
        case Bayes(task=believed):
            prior, fits = believed.prior, float(believed.noise.moment(2)) == 0
        case ConstRidge(prior=prior, variance=variance):
            fits = float(variance) == 0
        case AdaRidge(prior=prior):
            fits = task.n > task.d
        case TunedRidge(prior=prior, ceiling=ceiling):
            fits = float(ceiling) == 0 and task.n > task.d
        case _:
            return False
    return bool(fits) and bool(eqx.tree_equal(prior, task.prior))
