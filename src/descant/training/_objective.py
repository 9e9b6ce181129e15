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

from .. import _check, lanes
from .._predictor import AbstractPredictor
from .._random import normals
from .._unknown import Unknown
from ..tasks import AbstractTask, Moments, Prompt

Objective = Literal["query", "weights", "posterior", "adjusted"]
# The names of the objectives, as `--objective` takes them.
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
        jax.eval_shape(lambda key: sample_loss(objective, model, task, key), jax.random.key(0))
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
    if objective == "query":
        return _query_loss(model, task.sample(key=key))
    moments = task.sample_moments(key=key)
    return task.error_norm(model.weights(moments) - target(objective, task, moments))


def _query_loss(model: AbstractPredictor, prompt: Prompt) -> Float[Array, ""]:
    if prompt.y_query is None:
        raise ValueError("the task draws prompts without y_query; expected it, because it is what is to be predicted.")
    return (model(prompt) - prompt.y_query) ** 2


def _numbers(objective: str, task: AbstractTask) -> int | None:
    """How many normal numbers a context of this objective is made of; None if it takes a key."""
    return task.numbers if objective == "query" else task.moment_numbers


def made_of_numbers(objective: str, task: AbstractTask) -> bool:
    """Whether contexts are made of normal numbers drawn in a row, not of keys."""
    return _numbers(objective, task) is not None


def draw(
    objective: str, task: AbstractTask, batch: int, key: PRNGKeyArray
) -> Float[Array, " numbers"] | Key[Array, " m"]:
    """The random part of a batch: the numbers that its contexts are made of, or their keys."""
    numbers = _numbers(objective, task)
    return jax.random.split(key, batch) if numbers is None else normals(key, batch * numbers, task.dtype)


def batch_loss(
    objective: str,
    model: AbstractPredictor,
    task: AbstractTask,
    drawn: Float[Array, " numbers"] | Key[Array, " m"],
    batch: int,
) -> Float[Array, ""]:
    """The mean objective over a batch that was drawn.

    **Arguments:** `drawn` is a list of `batch` keys, one per context; or, on a task that makes them of normal numbers,
    so many times `batch` of those.
    """
    if _numbers(objective, task) is None:
        return jnp.mean(lanes.vmap(lambda key: sample_loss(objective, model, task, key))(drawn))
    if objective == "query":
        return jnp.mean(lanes.of_numbers(lambda numbers: _query_loss(model, task.place(numbers)), drawn, batch))
    moments = lanes.of_numbers(task.place_moments, drawn, batch)
    # Posteriors are no small matrices: spectra by LAPACK, and sums over many noise levels.
    wanted = jax.vmap(lambda moments: target(objective, task, moments))(moments)
    losses = lanes.vmap(lambda moments, wanted: task.error_norm(model.weights(moments) - wanted))(moments, wanted)
    return jnp.mean(losses)
