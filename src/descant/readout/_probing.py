"""Models that are not linear in the query: the weight vector that their answers imply, and how linear they are."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._final import is_ours
from .._lapack import one_by_one
from .._predictor import AbstractPredictor
from ..tasks import Prompt
from ._contexts import Contexts
from ._regression import Share, share

# Queries for each context: half of them fit the weight vector, the other half say how linear the answers are.
QUERIES_PER_DIMENSION, MORE_QUERIES = 4, 8
# Prompts that are answered at once.
CHUNK = 4096


@dataclass(frozen=True)
class Linearity:
    """How much of a model's answers a linear function of the query explains, on queries that it was not fitted to."""

    share: Share
    queries: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"share": self.share.as_json(), "queries": self.queries}


def probed(
    model: AbstractPredictor, contexts: Contexts
) -> tuple[Float[np.ndarray, "B d"], Float[np.ndarray, " d"] | None, Linearity]:
    """The weight vectors that a model's answers imply, by least squares over queries of the task's own law.

    **Returns:** the vectors; that of a context of zeros, None if it is not finite; and how linear the answers are.
    """
    prompts, d = contexts.prompts, contexts.d
    each = QUERIES_PER_DIMENSION * d + MORE_QUERIES
    # Queries of other prompts: drawn from the law, and the same for all contexts up to where they begin.
    pool = np.asarray(prompts.x_query, float)
    if each > contexts.count:
        # Inputs of the contexts may have another law, but no query is asked twice.
        pool = np.concatenate([pool, np.asarray(prompts.x, float).reshape(-1, d)])
    index = (np.arange(contexts.count)[:, None] + 1 + np.arange(each)[None]) % len(pool)
    queries = pool[index]
    answers = _answers(model, prompts.x, prompts.y, queries)
    half = each // 2
    found = np.stack([_least(q[:half], a[:half]) for q, a in zip(queries, answers, strict=True)])
    rest = answers[:, half:] - np.einsum("bqd,bd->bq", queries[:, half:], found)
    linear = share((rest**2).sum(axis=1), (answers[:, half:] ** 2).sum(axis=1))
    nothing = _answers(model, jnp.zeros_like(prompts.x[:1]), jnp.zeros_like(prompts.y[:1]), queries[:1])
    start = _least(queries[0], nothing[0])
    return found, start if np.isfinite(start).all() else None, Linearity(linear, each)


def _least(queries: Float[np.ndarray, "q d"], answers: Float[np.ndarray, " q"]) -> Float[np.ndarray, " d"]:
    if not np.isfinite(answers).all():
        return np.full(queries.shape[1], np.nan)
    return np.linalg.lstsq(queries, answers, rcond=None)[0]


def _answers(model: AbstractPredictor, x: Any, y: Any, queries: Float[np.ndarray, "B q d"]) -> np.ndarray:
    step = max(1, CHUNK // queries.shape[1])
    found = []
    for first in range(0, len(queries), step):
        some = slice(first, first + step)
        found.append(_ask(model, x[some], y[some], jnp.asarray(queries[some])))
    return np.concatenate([np.asarray(each, float) for each in found])


@eqx.filter_jit
def _ask(model: AbstractPredictor, x: Any, y: Any, queries: Any) -> Any:
    arrays, static = eqx.partition(model, eqx.is_array)

    def answer(x, y, query):
        return eqx.combine(arrays, static)(Prompt(x, y, query.astype(x.dtype)))

    # Somebody else's model may call LAPACK, which can hang in batches.
    one = answer if is_ours(type(model)) else lambda *each: one_by_one(answer, *each)
    return jax.vmap(lambda x, y, some: jax.vmap(lambda query: one(x, y, query))(some))(x, y, queries)
