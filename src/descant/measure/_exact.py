"""Which predictors have a risk in closed form."""

from functools import singledispatch

import equinox as eqx
import jax.numpy as jnp

from .._predictor import AbstractPredictor
from ..estimators import (
    GD,
    OLS,
    AdaRidge,
    AttendingGramAffine,
    Bayes,
    ConstRidge,
    GDBeta,
    GramAffine,
    OracleRidge,
    PreconditionedGD,
    TunedRidge,
    Zero,
)
from ..tasks import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression
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
    value = _exact(predictor, Problem.of(task), task)
    return None if value is None else float(value)


@singledispatch
def _exact(predictor: AbstractPredictor, problem: Problem, task: LinearRegression):
    """Closed form for one kind of predictor; kinds that are not registered have none."""
    del predictor, problem, task
    return None


@_exact.register
def _(predictor: Zero, problem, task):
    del predictor, task
    return zero_risk(problem)


@_exact.register
def _(predictor: OLS, problem, task):
    del predictor, task
    return ols_risk(problem)


@_exact.register
def _(predictor: GD, problem, task):
    del task
    return gd_risk(problem, predictor.start, predictor.steps[0]) if predictor.steps.shape == (1,) else None


@_exact.register
def _(predictor: PreconditionedGD, problem, task):
    del task
    return gd_beta_risk(problem, jnp.zeros(problem.d), predictor.gamma)


@_exact.register
def _(predictor: GDBeta, problem, task):
    del task
    return gd_beta_risk(problem, predictor.beta, predictor.gamma)


@_exact.register
def _(predictor: GramAffine, problem, task):
    del task
    return gram_risk(problem, predictor.offset, predictor.tensor)


@_exact.register
def _(predictor: AttendingGramAffine, problem, task):
    del task
    return attending_risk(problem, predictor.masked.offset, predictor.masked.tensor)


def _noiseless(prior: GaussianPrior, problem: Problem, task: LinearRegression) -> float | None:
    """Without noise the whole ridge family is the posterior mean, if it believes in the task's prior."""
    silent = isinstance(task.noise, FixedNoise) and float(task.noise.sigma) == 0.0
    return noiseless_oracle_risk(problem) if silent and eqx.tree_equal(prior, task.prior) else None


@_exact.register
def _(predictor: OracleRidge, problem, task):
    return _noiseless(predictor.prior, problem, task)


@_exact.register
def _(predictor: AdaRidge, problem, task):
    return _noiseless(predictor.prior, problem, task) if task.n > task.d else None


@_exact.register
def _(predictor: ConstRidge, problem, task):
    return _noiseless(predictor.prior, problem, task) if float(predictor.variance) == 0.0 else None


@_exact.register
def _(predictor: TunedRidge, problem, task):
    silent = float(predictor.ceiling) == 0.0 and task.n > task.d
    return _noiseless(predictor.prior, problem, task) if silent else None


@_exact.register
def _(predictor: Bayes, problem, task):
    return _noiseless(predictor.task.prior, problem, task) if eqx.tree_equal(predictor.task.noise, task.noise) else None
