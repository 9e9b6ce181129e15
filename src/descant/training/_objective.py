"""What is minimised. All four have the same minimiser; they differ in how much of the expectation is done by hand.

| objective | per sample | what is integrated out |
|---|---|---|
| `query` | (prediction - y_query)^2 on a prompt | nothing: the papers' own |
| `weights` | \\|w_hat - w\\|^2 in the norm of the inputs | the query |
| `posterior` | \\|w_hat - E[w given the context]\\|^2 | the query and the task |
| `adjusted` | \\|w_hat - E[w given context and noise level]\\|^2 | the same, for the oracle: the mean is the adjusted risk |

Each is the risk plus a constant, because w_hat depends on the context alone.
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._random import normals
from ..tasks import LinearRegression, Moments, Prompt

Objective = Literal["query", "weights", "posterior", "adjusted"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)


def check_objective(objective: str, model: AbstractPredictor) -> None:
    """Refuse an objective that needs a weight vector for a model that has none."""
    _check.one_of("objective", objective, OBJECTIVES)
    if objective != "query" and not model.linear:
        raise ValueError(
            f"objective is {objective!r}, but {type(model).__name__} is not linear in the query; use the query objective."
        )


def target(objective: str, task: LinearRegression, moments: Moments) -> Float[Array, " d"]:
    """The weight vector that the objective asks for."""
    match objective:
        case "weights":
            assert moments.w is not None
            return moments.w
        case "posterior":
            return task.posterior(moments).mean
        case "adjusted":
            return task.posterior(moments, moments.sigma).mean
    raise ValueError(f"objective is {objective!r}; expected one with a weight vector: weights, posterior or adjusted.")


def sample_loss(
    objective: str, model: AbstractPredictor, task: LinearRegression, key: PRNGKeyArray
) -> Float[Array, ""]:
    """The objective on one fresh context."""
    if objective == "query":
        return _query_loss(model, task.sample(key=key))
    moments = task.sample_moments(key=key)
    return task.error_norm(model.weights(moments) - target(objective, task, moments))


def draw(objective: str, task: LinearRegression, batch: int, key: PRNGKeyArray) -> Array:
    """The random part of a batch: the numbers that its prompts are made of, or the keys of its contexts."""
    if objective == "query":
        return normals(key, batch * task.numbers, task.dtype)
    return jax.random.split(key, batch)


def batch_loss(
    objective: str, model: AbstractPredictor, task: LinearRegression, drawn: Array, batch: int
) -> Float[Array, ""]:
    """The mean objective over the batch that was drawn."""
    if objective == "query":
        losses = jax.vmap(lambda numbers: _query_loss(model, task.place(numbers)))(drawn.reshape(batch, task.numbers))
    else:
        losses = jax.vmap(lambda key: sample_loss(objective, model, task, key))(drawn)
    return jnp.mean(losses)


def _query_loss(model: AbstractPredictor, prompt: Prompt) -> Float[Array, ""]:
    assert prompt.y_query is not None
    return (model(prompt) - prompt.y_query) ** 2
