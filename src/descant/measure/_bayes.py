"""The least risk that is possible on a task."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .._risk import Excess, Risk
from .._sampling import mean_over_keys
from .._unknown import Unknown
from ..estimators import Bayes, MonteCarloBayes
from ..tasks import AbstractTask
from ._risk import SAMPLES, risk, token_chunk


def bayes_risk(task: AbstractTask, *, samples: int = SAMPLES, key: PRNGKeyArray | None = None) -> Risk:
    """The risk of the posterior mean, which no predictor that sees only the context is below.

    Where the posterior is known it is `risk(Bayes.of(task), task)`. Elsewhere the posterior mean is itself an average
    over draws, and its own risk would be too high by their variance; so each prompt is answered twice, with independent
    draws, and the product of the two errors is averaged: what the draws add to one is independent of what they add to
    the other. What remains is the square of the bias of self-normalised weights, of the order of 1 / draws^2.

    **Arguments:** as of `risk`.

    **Returns:** a `Risk`; its method says which of the two it was ("tokens" for the second).
    """
    key = jax.random.key(0) if key is None else key
    try:
        return risk(Bayes.of(task), task, samples=samples, key=key)
    except Unknown:
        pass
    mean, error = mean_over_keys(_product, (MonteCarloBayes.of(task), task), key, samples, token_chunk(task))
    return Risk(float(mean), float(error), "tokens", lambda: Excess(None, None))


def _product(subject: tuple[MonteCarloBayes, AbstractTask], key: PRNGKeyArray) -> Float[Array, ""]:
    predictor, task = subject
    for_prompt, *for_draws = jax.random.split(key, 3)
    prompt = task.sample(key=for_prompt)
    assert prompt.y_query is not None
    answers = jax.vmap(lambda key: predictor.estimate(prompt, key=key).value)(jnp.stack(for_draws))
    return jnp.prod(answers - prompt.y_query)
