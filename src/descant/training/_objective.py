"""What is minimised. All four have the same minimiser; they differ in how much of the expectation is done by hand.

| objective | per sample | what is integrated out |
|---|---|---|
| `query` | (prediction - y_query)^2 on a prompt | nothing: the papers' own |
| `weights` | \\|w_hat - w\\|^2 in the norm of the inputs | the query |
| `posterior` | \\|w_hat - E[w given the context]\\|^2 | the query and the task |
| `adjusted` | \\|w_hat - E[w given context and noise level]\\|^2 | the same; the mean is the adjusted risk |

Each is the risk plus a constant, because w_hat depends on the context alone. The last three need a model that is linear
in the query and a task whose labels are; the last two also a task that knows its posterior.
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._random import normals
from .._unknown import Unknown
from ..tasks import AbstractTask, Moments, Prompt

Objective = Literal["query", "weights", "posterior", "adjusted"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)


def check_objective(objective: str, model: AbstractPredictor, task: AbstractTask) -> None:
    """Refuse an objective that needs what the model or the task doesn't have."""
    _check.one_of("objective", objective, OBJECTIVES)
    reason = _lacking(objective, model, task)
    if reason is not None:
        raise Unknown(f"objective is {objective!r}, but {reason}; use the {natural_objective(model, task)} objective.")


def natural_objective(model: AbstractPredictor, task: AbstractTask) -> str:
    """The objective with most integrated out that model and task allow."""
    return next(each for each in ("posterior", "weights", "query") if _lacking(each, model, task) is None)


def _lacking(objective: str, model: AbstractPredictor, task: AbstractTask) -> str | None:
    """What the objective needs and the model or the task doesn't have; None if it has all."""
    if objective == "query":
        return None
    if not model.linear:
        return f"{type(model).__name__} is not linear in the query"
    try:
        jax.eval_shape(lambda key: _weight_loss(objective, model, task, key), jax.random.key(0))
    except Unknown as reason:
        return str(reason)
    return None


def target(objective: str, task: AbstractTask, moments: Moments) -> Float[Array, " d"]:
    """The weight vector that the objective asks for."""
    match objective:
        case "weights":
            if moments.w is None:
                raise Unknown(f"contexts of {type(task).__name__} are drawn without their hidden w")
            return moments.w
        case "posterior":
            return task.posterior(moments).mean
        case "adjusted":
            return task.posterior(moments, moments.sigma).mean
    raise ValueError(f"objective is {objective!r}; expected one with a weight vector: weights, posterior or adjusted.")


def sample_loss(objective: str, model: AbstractPredictor, task: AbstractTask, key: PRNGKeyArray) -> Float[Array, ""]:
    """The objective on one fresh context: a draw whose mean over keys is what training minimises.

    **Arguments:** `objective` is one of `OBJECTIVES`: `query` takes any model and task, `weights`, `posterior` and
    `adjusted` a model that is linear in the query; `Unknown` if the task lacks what it takes.
    """
    return (
        _query_loss(model, task.sample(key=key)) if objective == "query" else _weight_loss(objective, model, task, key)
    )


def _weight_loss(objective: str, model: AbstractPredictor, task: AbstractTask, key: PRNGKeyArray) -> Float[Array, ""]:
    moments = task.sample_moments(key=key)
    return task.error_norm(model.weights(moments) - target(objective, task, moments))


def draw(
    objective: str, task: AbstractTask, batch: int, key: PRNGKeyArray
) -> Float[Array, " numbers"] | Key[Array, " m"]:
    """The random part of a batch: the numbers that its prompts are made of, or the keys of its contexts."""
    if objective == "query" and task.numbers is not None:
        return normals(key, batch * task.numbers, task.dtype)
    return jax.random.split(key, batch)


def batch_loss(
    objective: str,
    model: AbstractPredictor,
    task: AbstractTask,
    drawn: Float[Array, " numbers"] | Key[Array, " m"],
    batch: int,
) -> Float[Array, ""]:
    """The mean objective over a batch that was drawn.

    **Arguments:** `drawn` is a list of `batch` keys, one per context; or for `query`, on a task that has `numbers`, so
    many standard normal numbers times `batch`, one after the other.
    """
    if objective == "query" and task.numbers is not None:
        losses = jax.vmap(lambda numbers: _query_loss(model, task.place(numbers)))(drawn.reshape(batch, task.numbers))
    else:
        losses = jax.vmap(lambda key: sample_loss(objective, model, task, key))(drawn)
    return jnp.mean(losses)


def _query_loss(model: AbstractPredictor, prompt: Prompt) -> Float[Array, ""]:
    if prompt.y_query is None:
        raise ValueError("the task draws prompts without y_query; expected it, because it is what is to be predicted.")
    return (model(prompt) - prompt.y_query) ** 2
