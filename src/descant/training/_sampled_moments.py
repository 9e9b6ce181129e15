"""All that the risk of a one-layer attention depends on, from one pass over sampled contexts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check, _memory
from .._random import normals
from .._sampling import MOST_SAMPLES
from .._unknown import Unknown
from ..tasks import AbstractTask
from ..theory import GramMoments

# Contexts that are held at once.
CHUNK = 1024


def sampled_moments(task: AbstractTask, contexts: int, *, key: PRNGKeyArray) -> GramMoments:
    """The means over so many sampled contexts (rounded up to whole chunks), whatever the laws of the task.

    The task must be linear: its prompts carry their hidden w, and it knows what errors of a weight vector cost.
    """
    _check.size("contexts", contexts, most=MOST_SAMPLES)
    chunk = min(CHUNK, contexts)
    size = (task.d + 1) * (task.d + 2) // 2
    numbers = chunk * (3 * task.d * task.n + size) + 3 * size * size
    _memory.need(f"moments of {chunk} contexts with d = {task.d} and n = {task.n}", numbers, "n or d")
    metric = task.query_metric()
    chunks = -(-contexts // chunk)
    total = sum(np.asarray(_products(task, jax.random.fold_in(key, index), chunk)) for index in range(chunks))
    means = jnp.asarray(total) / (chunk * chunks)
    task_part, gram_part = slice(1, task.d + 1), slice(task.d + 1, None)
    # One symmetric matrix of products of (1, w, g).
    return GramMoments(
        metric,
        means[0, task_part],
        means[task_part, task_part],
        means[0, gram_part],
        means[task_part, gram_part],
        means[gram_part, gram_part],
    )


@eqx.filter_jit
def _products(task: AbstractTask, key: PRNGKeyArray, count: int) -> Float[Array, "k k"]:
    """The sum over contexts of the products of (1, w, g)."""
    rows, columns = np.triu_indices(task.d + 1)

    def one(prompt):
        if prompt.w is None:
            raise Unknown(f"prompts of {type(task).__name__} are drawn without their hidden w")
        gram = prompt.moments().gram / task.n
        return jnp.concatenate([jnp.ones(1, gram.dtype), prompt.w, gram[rows, columns]])

    if task.numbers is None:
        vectors = jax.vmap(lambda key: one(task.sample(key=key)))(jax.random.split(key, count))
    else:
        numbers = normals(key, count * task.numbers, task.dtype).reshape(count, task.numbers)
        vectors = jax.vmap(lambda numbers: one(task.place(numbers)))(numbers)
    return vectors.T @ vectors
