"""The in-context risk of a predictor on a task."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check, _memory
from .._cores import cores
from .._final import is_ours
from .._fingerprint import fingerprint
from .._lapack import one_by_one
from .._predictor import AbstractPredictor
from .._reason import reason_against
from .._risk import Excess, Risk
from .._sampling import CHUNK, MOST_SAMPLES, mean_over_keys
from .._unknown import Unknown
from ..estimators import AttendingGramAffine, GramAffine, OracleRidge
from ..tasks import AbstractTask
from ._exact import exact_risk

# How a risk is found: `auto` takes the first of the others that is possible.
Method = Literal["auto", "exact", "moments", "tokens"]
SAMPLES = 32_768
# Numbers that a chunk of token-space prompts may hold: 128 MiB in float64.
TOKEN_BUDGET = 2**24
# Two ways to one prediction differ by rounding alone; float32 models are among them.
AGREEMENT = 1e-3
OVERFLOW = "some of the contexts that were drawn overflow, and no mean over them is known"


def risk(
    predictor: AbstractPredictor,
    task: AbstractTask,
    method: Method = "auto",
    *,
    samples: int = SAMPLES,
    key: PRNGKeyArray | None = None,
) -> Risk:
    """E (prediction - y_query)^2, without the label noise of the query.

    Exact where predictor and task allow it, else Monte Carlo: over moments for predictors that are linear in the query,
    over tokens for the others. In moment space the query and, where the posterior is known, the task (given context and
    noise level) are integrated out by hand: |w_hat - w_oracle|^2 in the norm of the inputs, plus the oracle's own
    posterior variance.

    **Arguments:** `method` asks for one of the three; what can't be had that way is refused with a sentence. `samples`
    contexts are drawn with `key` (key 0 if left out).

    **Returns:** a `Risk`, with its method and standard error.

    >>> from descant import LinearRegression, estimators
    >>> round(risk(estimators.Zero(), LinearRegression(d=5, n=5)).value, 6)
    5.0
    """
    _check.one_of("method", method, get_args(Method))
    _check.size("samples", samples, least=2, most=MOST_SAMPLES)
    key = jax.random.key(0) if key is None else key
    if not is_ours(type(predictor)):
        _agree(predictor, task)
    note = ""
    if method in ("auto", "exact"):
        try:
            exact = exact_risk(predictor, task)
            return Risk(exact, 0.0, "exact", partial(_above_oracle, exact, task, samples, key))
        except Unknown as reason:
            note = str(reason)
            if method == "exact":
                raise Unknown(
                    f"there is no exact risk here: {reason}; ask for method auto, moments or tokens."
                ) from None
    if method == "auto":
        with suppress(Unknown):
            value, error = predictor.sampled_risk(task, samples=samples, entropy=_entropy(key))
            return Risk(value, error, "moments", lambda: Excess(0.0, 0.0), note)
    if method in ("auto", "moments"):
        try:
            _need_moments(predictor, task)
            return _noted(moment_risks([predictor], task, samples=samples, key=key)[0], note)
        except Unknown as reason:
            if method == "moments":
                raise Unknown(f"there is no risk over moments here: {reason}; ask for method auto or tokens.") from None
    return _noted(token_risks([predictor], task, samples=samples, key=key)[0], note)


def _noted(found: Risk, note: str) -> Risk:
    """A sampled risk with the reason why it is not exact; a mean that is no finite number is said to be none."""
    return replace(found, note=note if math.isfinite(found.value) else OVERFLOW)


def _agree(predictor: AbstractPredictor, task: AbstractTask) -> None:
    """Check on one prompt that what somebody's own predictor says of itself is what it does."""
    prompt = task.sample(key=jax.random.key(1))
    told = {}
    if predictor.linear:
        weights = predictor.weights(prompt.moments())
        if np.shape(weights) != (task.d,):
            raise ValueError(
                f"the weights of {type(predictor).__name__} have shape {np.shape(weights)}; expected ({task.d},), one "
                "for each input."
            )
        told["weights"] = weights @ prompt.x_query
    called = predictor(prompt)
    with suppress(Unknown):
        offset, tensor, query_masked = predictor.gram_affine(task.d, task.n)
        masked = GramAffine(offset, tensor)
        told["gram_affine"] = (masked if query_masked else AttendingGramAffine(masked))(prompt)
    for name, value in told.items():
        if not np.allclose(value, called, rtol=AGREEMENT, atol=AGREEMENT):
            raise ValueError(
                f"{type(predictor).__name__} answers a prompt with {float(called):.6g} when it is called, and with "
                f"{float(value):.6g} by its {name}; expected the same: one of the two is wrong."
            )


def _ask(question: str, predictor: AbstractPredictor, given: Any) -> Array:
    """`weights` or the prediction; somebody else's may call LAPACK, which can hang in batches."""
    if is_ours(type(predictor)):
        return getattr(predictor, question)(given)
    arrays, static = eqx.partition(predictor, eqx.is_array)
    return one_by_one(lambda arrays, given: getattr(eqx.combine(arrays, static), question)(given), arrays, given)


def moment_risks(
    predictors: Sequence[AbstractPredictor], task: AbstractTask, *, samples: int, key: PRNGKeyArray
) -> list[Risk]:
    """Risks of several predictors that are linear in the query, on the same sampled Gram matrices, in one program."""
    for predictor in predictors:
        _need_moments(predictor, task)
    known = knows_oracle(task)
    statistic = _moment_errors if known else _plain_moment_errors
    # Short contexts and other than Gaussian inputs are drawn as tokens even here.
    means, errors = mean_over_keys(statistic, (tuple(predictors), task), key, samples, _chunk(task))
    return _as_risks("moments", means, errors, known)


def token_risks(
    predictors: Sequence[AbstractPredictor], task: AbstractTask, *, samples: int, key: PRNGKeyArray
) -> list[Risk]:
    """Risks of several predictors on the same sampled prompts, in one program."""
    known = knows_oracle(task)
    statistic = _token_errors if known else _plain_token_errors
    means, errors = mean_over_keys(statistic, (tuple(predictors), task), key, samples, token_chunk(task))
    return _as_risks("tokens", means, errors, known)


def knows_oracle(task: AbstractTask) -> bool:
    """Whether the task knows the posterior of somebody who is told the noise level, from a context's moments."""
    return not reason_against(_oracle_variance, task)


def _need_moments(predictor: AbstractPredictor, task: AbstractTask) -> None:
    """Raise `Unknown` unless the risk can be had from contexts' moments and hidden tasks."""
    if not predictor.linear:
        raise Unknown(f"{type(predictor).__name__} is not linear in the query")
    reason = reason_against(_signal, task)
    if reason:
        raise Unknown(reason)


def _above_oracle(exact: float, task: AbstractTask, samples: int, key: PRNGKeyArray) -> Excess:
    """What an exact risk has above the oracle's."""
    oracle = _oracle_risk(task, samples, key)
    return Excess(None, None) if oracle is None else Excess(exact - oracle[0], oracle[1])


# The oracle's risks on the tasks that were asked for last: risks of many predictors on a task need it but once.
_KEPT: dict[Any, tuple[float, float] | None] = {}
MOST_KEPT = 128


def _oracle_risk(task: AbstractTask, samples: int, key: PRNGKeyArray) -> tuple[float, float] | None:
    """The oracle's risk and its standard error, exact or sampled; None if the task doesn't know it."""
    known = fingerprint(task)
    if known is None:
        return _measured_oracle(task, samples, key)
    asked = known, samples, _entropy(key)
    if asked not in _KEPT:
        while len(_KEPT) >= MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[asked] = _measured_oracle(task, samples, key)
    return _KEPT[asked]


def _measured_oracle(task: AbstractTask, samples: int, key: PRNGKeyArray) -> tuple[float, float] | None:
    with suppress(Unknown):
        oracle = OracleRidge.of(task)
        with suppress(Unknown):
            return exact_risk(oracle, task), 0.0
        return oracle.sampled_risk(task, samples=samples, entropy=_entropy(key))
    if not knows_oracle(task):
        return None
    mean, error = mean_over_keys(_oracle_variance, task, key, samples, _chunk(task))
    return float(mean), float(error)


def _entropy(key: PRNGKeyArray) -> tuple[int, ...]:
    """The words of a key, for draws in NumPy."""
    return tuple(np.asarray(jax.random.key_data(key)).tolist())


def _chunk(task: AbstractTask) -> int:
    """How many contexts to hold at once."""
    return token_chunk(task) if task.moments_take_tokens else _largest_chunk(task, task.d)


def token_chunk(task: AbstractTask) -> int:
    """How many prompts to hold at once."""
    return _largest_chunk(task, max(task.d, task.n))


def _largest_chunk(task: AbstractTask, rows: int) -> int:
    """How many contexts of so many rows of d numbers; `Unknown` if not even those of all cores fit."""
    numbers = task.d * rows
    _memory.need(f"drawing contexts with d = {task.d} and n = {task.n}", 4 * cores() * numbers, "n or d")
    return max(1, min(CHUNK, TOKEN_BUDGET // numbers))


def _as_risks(method: str, means: np.ndarray, errors: np.ndarray, with_oracle: bool) -> list[Risk]:
    risks = []
    for mean, error in zip(means.tolist(), errors.tolist(), strict=True):
        above = Excess(mean[1], error[1]) if with_oracle else Excess(None, None)
        risks.append(Risk(mean[0], error[0], method, lambda above=above: above))
    return risks


Subject = tuple[tuple[AbstractPredictor, ...], AbstractTask]


def _oracle(task: AbstractTask, moments):
    if moments.sigma is None:
        raise Unknown(f"contexts of {type(task).__name__} are drawn without their noise level")
    return task.posterior(moments, moments.sigma)


def _signal(task: AbstractTask, key: PRNGKeyArray) -> Float[Array, ""]:
    """What predicting 0 costs on one context."""
    moments = task.sample_moments(key=key)
    if moments.w is None:
        raise Unknown(f"contexts of {type(task).__name__} are drawn without their hidden w")
    return task.error_norm(moments.w)


def _oracle_variance(task: AbstractTask, key: PRNGKeyArray) -> Float[Array, ""]:
    """What the oracle's prediction costs on one context."""
    return jnp.sum(task.query_metric() * _oracle(task, task.sample_moments(key=key)).cov)


def _moment_errors(subject: Subject, key: PRNGKeyArray) -> Float[Array, "p 2"]:
    """Risk and adjusted risk of each predictor on one context, given the context and its noise level."""
    predictors, task = subject
    moments = task.sample_moments(key=key)
    oracle = _oracle(task, moments)
    floor = jnp.sum(task.query_metric() * oracle.cov)
    adjusted = jnp.stack([task.error_norm(_ask("weights", each, moments) - oracle.mean) for each in predictors])
    return jnp.stack([adjusted + floor, adjusted], axis=1)


def _plain_moment_errors(subject: Subject, key: PRNGKeyArray) -> Float[Array, "p 1"]:
    """The error of each predictor's weight vector on one context."""
    predictors, task = subject
    moments = task.sample_moments(key=key)
    assert moments.w is not None  # or moments would have been refused
    return jnp.stack([task.error_norm(_ask("weights", each, moments) - moments.w) for each in predictors])[:, None]


def _token_errors(subject: Subject, key: PRNGKeyArray) -> Float[Array, "p 2"]:
    """Squared error of each predictor on one prompt, and how much it exceeds the oracle's on the same prompt."""
    predictors, task = subject
    prompt = task.sample(key=key)
    errors = _squared_errors(predictors, prompt)
    assert prompt.y_query is not None
    oracle = (_oracle(task, prompt.moments()).mean @ prompt.x_query - prompt.y_query) ** 2
    return jnp.stack([errors, errors - oracle], axis=1)


def _plain_token_errors(subject: Subject, key: PRNGKeyArray) -> Float[Array, "p 1"]:
    predictors, task = subject
    return _squared_errors(predictors, task.sample(key=key))[:, None]


def _squared_errors(predictors: Sequence[AbstractPredictor], prompt) -> Float[Array, " p"]:
    if prompt.y_query is None:
        raise ValueError("the task draws prompts without y_query; expected it, because risks are measured against it.")
    return jnp.stack([(_ask("__call__", each, prompt) - prompt.y_query) ** 2 for each in predictors])
