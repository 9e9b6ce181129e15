"""Risks from prompts drawn one token at a time, by plain NumPy sums over the answers: an independent measurement."""

import equinox as eqx
import jax
import numpy as np


@eqx.filter_jit
def _answers(predictors, task, keys):
    prompts = jax.vmap(lambda key: task.sample(key=key))(keys)
    return [jax.vmap(predictor)(prompts) for predictor in predictors], prompts.y_query


def token_errors(predictors, task, seed: int, samples: int) -> list[np.ndarray]:
    """The squared errors of several predictors on the same prompts."""
    answers, labels = _answers(predictors, task, jax.random.split(jax.random.key(seed), samples))
    return [(np.asarray(answer) - np.asarray(labels)) ** 2 for answer in answers]
