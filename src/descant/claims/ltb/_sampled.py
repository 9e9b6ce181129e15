"""Squared errors on sampled prompts, of any task that can draw them."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..._predictor import AbstractPredictor
from ..._sampling import mean_over_keys
from ...tasks import AbstractTask


def sampled_risks(
    models: Sequence[AbstractPredictor], task: AbstractTask, *, samples: int, key: PRNGKeyArray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean squared errors and their standard errors on the same prompts; the last entry is the mean of y_query^2.

    Behind the p models come their differences from the first one, paired: entries p to 2p - 1.
    """
    return mean_over_keys(_errors, (tuple(models), task), key, samples, chunk=min(2048, samples))


def _errors(subject: tuple[tuple[AbstractPredictor, ...], AbstractTask], key: PRNGKeyArray) -> Float[Array, " r"]:
    models, task = subject
    prompt = task.sample(key=key)
    assert prompt.y_query is not None
    errors = [(model(prompt) - prompt.y_query) ** 2 for model in models]
    return jnp.stack([*errors, *(error - errors[0] for error in errors), prompt.y_query**2])
