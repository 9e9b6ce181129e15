"""The in-context risk of a predictor on a task."""

from dataclasses import dataclass
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractLinearPredictor, AbstractPredictor
from .._sampling import CHUNK, mean_over_keys
from ..estimators import OracleRidge
from ..tasks import LinearRegression
from ._exact import exact_risk

Method = Literal["auto", "exact", "moments", "tokens"]
SAMPLES = 32_768
# Numbers that a chunk of token-space prompts may hold: 128 MiB in float64.
TOKEN_BUDGET = 2**24


@dataclass(frozen=True)
class Risk:
    """A risk, how it was found, and its standard error (0 if exact).

    `adjusted` is the risk less the oracle ridge's, with a standard error of its own: on sampled contexts the two are
    paired, so it is the smaller one.
    """

    value: float
    standard_error: float
    method: str
    adjusted: float
    adjusted_error: float


def risk(
    predictor: AbstractPredictor,
    task: LinearRegression,
    method: Method = "auto",
    *,
    samples: int = SAMPLES,
    key: PRNGKeyArray | None = None,
) -> Risk:
    """E (prediction - <w, x_query>)^2, without the label noise of the query.

    Exact where a closed form exists, else Monte Carlo: over moments for predictors that are linear in the query, over
    tokens for the others. In moment space the query and the task (given context and noise level) are integrated out by
    hand: |w_hat - w_oracle|^2 in the norm of the inputs, plus the oracle's own posterior variance.

    **Arguments:** `method` asks for one of the three; `samples` contexts are drawn with `key` (key 0 if left out).

    >>> from descant import LinearRegression, estimators
    >>> round(risk(estimators.Zero(), LinearRegression(d=5, n=5)).value, 6)
    5.0
    """
    _check.one_of("method", method, get_args(Method))
    _check.size("samples", samples, least=2)
    key = jax.random.key(0) if key is None else key
    exact = exact_risk(predictor, task) if method in ("auto", "exact") else None
    if exact is not None:
        oracle = _oracle(task, key, samples)
        return Risk(exact, 0.0, "exact", exact - oracle[0], oracle[1])
    if method == "exact":
        raise ValueError(f"{_name(predictor)} has no closed form on this task; ask for method auto, moments or tokens.")
    linear = isinstance(predictor, AbstractLinearPredictor)
    if method == "moments" and not linear:
        raise ValueError(f"{_name(predictor)} is not linear in the query; ask for method auto, exact or tokens.")
    if linear and method != "tokens":
        means, errors = mean_over_keys(_moment_errors, (predictor, task), key, samples)
        return Risk(float(means[0]), float(errors[0]), "moments", float(means[1]), float(errors[1]))
    chunk = max(1, min(CHUNK, TOKEN_BUDGET // (task.n * task.d)))
    means, errors = mean_over_keys(_token_errors, (predictor, task), key, samples, chunk)
    return Risk(float(means[0]), float(errors[0]), "tokens", float(means[1]), float(errors[1]))


def _name(predictor: AbstractPredictor) -> str:
    return type(predictor).__name__


def _oracle(task: LinearRegression, key: PRNGKeyArray, samples: int) -> tuple[float, float]:
    """The oracle ridge's risk and its standard error."""
    oracle = OracleRidge(task.prior)
    exact = exact_risk(oracle, task)
    if exact is not None:
        return exact, 0.0
    means, errors = mean_over_keys(_moment_errors, (oracle, task), key, samples)
    return float(means[0]), float(errors[0])


def _moment_errors(subject: tuple[AbstractLinearPredictor, LinearRegression], key: PRNGKeyArray) -> Float[Array, " 2"]:
    """Risk and adjusted risk of one context, given the context and its noise level."""
    predictor, task = subject
    moments = task.sample_moments(key=key)
    oracle = task.posterior(moments, moments.sigma)
    adjusted = task.error_norm(predictor.weights(moments) - oracle.mean)
    return jnp.stack([adjusted + jnp.sum(task.inputs.second_moment(task.d) * oracle.cov), adjusted])


def _token_errors(subject: tuple[AbstractPredictor, LinearRegression], key: PRNGKeyArray) -> Float[Array, " 2"]:
    """Squared error on one prompt, and how much it exceeds the oracle's on the same prompt."""
    predictor, task = subject
    prompt = task.sample(key=key)
    assert prompt.y_query is not None
    error = (predictor(prompt) - prompt.y_query) ** 2
    return jnp.stack([error, error - (OracleRidge(task.prior)(prompt) - prompt.y_query) ** 2])
