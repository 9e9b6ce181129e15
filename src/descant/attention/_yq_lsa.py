"""y_q-LSA: linear self-attention with a trainable initial guess."""

from dataclasses import replace

import jax
from jaxtyping import PRNGKeyArray

from ..tasks import AbstractTask
from . import _lsa
from ._guess import LinearGuess
from ._lsa import LSA


def _make(task: AbstractTask, *, heads: int = 1, query_masked: bool = True, key: PRNGKeyArray) -> LSA:
    guess = LinearGuess(0.1 * jax.random.normal(jax.random.fold_in(key, 1), (task.d,)))
    return LSA.random(task.d, heads, key=key, guess=guess, query_masked=query_masked)


# Its best member is GD-beta, whatever the heads, and whether the query attends or not.
KIND = replace(
    _lsa.KIND,
    name="yq-lsa",
    sentence="linear self-attention with a trainable initial guess (y_q-LSA)",
    make=_make,
    optimum=lambda heads, query_masked: {"name": "yq-lsa"},
)
