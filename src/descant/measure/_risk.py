"""The in-context risk of a predictor on a task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
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
    """E (prediction - `<w, x_query>`)^2, without the label noise of the query.

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
        oracle = OracleRidge(task.prior)
        known = exact_risk(oracle, task)
        if known is not None:
            return Risk(exact, 0.0, "exact", exact - known, 0.0)
        estimate = moment_risks([oracle], task, samples=samples, key=key)[0]
        return Risk(exact, 0.0, "exact", exact - estimate.value, estimate.standard_error)
    if method == "exact":
        raise ValueError(f"{_name(predictor)} has no closed form on this task; ask for method auto, moments or tokens.")
    if method != "tokens" and predictor.linear:
        return moment_risks([predictor], task, samples=samples, key=key)[0]
    if method == "moments":
        raise ValueError(f"{_name(predictor)} is not linear in the query; ask for method auto, exact or tokens.")
    return token_risks([predictor], task, samples=samples, key=key)[0]


def moment_risks(
    predictors: Sequence[AbstractPredictor], task: LinearRegression, *, samples: int, key: PRNGKeyArray
) -> list[Risk]:
    """Risks of several predictors on the same sampled Gram matrices, in one program."""
    # Short contexts and other than Gaussian inputs are drawn as tokens even here.
    means, errors = mean_over_keys(_moment_errors, (tuple(predictors), task), key, samples, _chunk(task))
    return _as_risks("moments", means, errors)


def token_risks(
    predictors: Sequence[AbstractPredictor], task: LinearRegression, *, samples: int, key: PRNGKeyArray
) -> list[Risk]:
    """Risks of several predictors on the same sampled prompts, in one program."""
    means, errors = mean_over_keys(_token_errors, (tuple(predictors), task), key, samples, _chunk(task, tokens=True))
    return _as_risks("tokens", means, errors)


def _chunk(task: LinearRegression, tokens: bool = False) -> int:
    """How many contexts to hold at once."""
    tokens = tokens or task.moments_take_tokens
    return max(1, min(CHUNK, TOKEN_BUDGET // (task.d * max(task.d, task.n if tokens else 1))))


def _as_risks(method: str, means: np.ndarray, errors: np.ndarray) -> list[Risk]:
    return [
        Risk(float(value), float(error), method, float(adjusted), float(adjusted_error))
        for (value, adjusted), (error, adjusted_error) in zip(means, errors, strict=True)
    ]


def _name(predictor: AbstractPredictor) -> str:
    return type(predictor).__name__


def _moment_errors(
    subject: tuple[tuple[AbstractPredictor, ...], LinearRegression], key: PRNGKeyArray
) -> Float[Array, "p 2"]:
    """Risk and adjusted risk of each predictor on one context, given the context and its noise level."""
    predictors, task = subject
    moments = task.sample_moments(key=key)
    oracle = task.posterior(moments, moments.sigma)
    floor = jnp.sum(task.inputs.second_moment(task.d) * oracle.cov)
    adjusted = jnp.stack([task.error_norm(predictor.weights(moments) - oracle.mean) for predictor in predictors])
    return jnp.stack([adjusted + floor, adjusted], axis=1)


def _token_errors(
    subject: tuple[tuple[AbstractPredictor, ...], LinearRegression], key: PRNGKeyArray
) -> Float[Array, "p 2"]:
    """Squared error of each predictor on one prompt, and how much it exceeds the oracle's on the same prompt."""
    predictors, task = subject
    prompt = task.sample(key=key)
    assert prompt.y_query is not None
    errors = jnp.stack([(predictor(prompt) - prompt.y_query) ** 2 for predictor in predictors])
    return jnp.stack([errors, errors - (OracleRidge(task.prior)(prompt) - prompt.y_query) ** 2], axis=1)
