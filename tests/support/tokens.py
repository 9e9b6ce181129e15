"""Risks from prompts drawn one token at a time, by plain NumPy sums over the answers: an independent measurement."""

import equinox as eqx
import jax
import numpy as np


@eqx.filter_jit
def _drawn(task, keys):
    return jax.vmap(lambda key: task.sample(key=key))(keys)


@eqx.filter_jit
def _answers(predictor, prompts):
    return jax.vmap(predictor)(prompts)


def token_errors(predictors, task, seed: int, samples: int) -> list[np.ndarray]:
    """The squared errors of several predictors on the same prompts.

    One program draws them, one answers for each predictor: those serve all tasks of the same sizes.
    """
    drawn = _drawn(task, jax.random.split(jax.random.key(seed), samples))
    return [(np.asarray(_answers(each, drawn)) - np.asarray(drawn.y_query)) ** 2 for each in predictors]
