"""Random weights of a sensible size, for any kind of model."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from .._unknown import Unknown
from ..tasks import AbstractTask

# Random omegas spread over this many times the inverse size of the Gram block they multiply.
SPREAD = 0.7
# The size of fresh numbers in the place of an array of zeros.
SMALL = 0.1
# Prompts that tell the size of inputs and labels where no law does.
LOOKED_AT = 256


def gram_sizes(task: AbstractTask) -> tuple[float, float]:
    """Typical size of an eigenvalue of X^T X, and of y^T y: from the laws' moments, or from a few prompts."""
    try:
        regression = task.regression()
        second, tasks = np.asarray(task.query_metric()), regression.prior.moments(task.d).second
        label = float(np.sum(second * tasks)) + float(regression.noise.moment(2)) * regression.labels.moments().second
        return task.n * float(np.trace(second)) / task.d, task.n * max(label, 1e-300)
    except Unknown:
        keys = jax.random.split(jax.random.key(0), LOOKED_AT)
        gram = jax.vmap(lambda key: task.sample(key=key).moments().gram)(keys)
        inputs, labels = jnp.trace(gram[:, :-1, :-1], axis1=1, axis2=2), gram[:, -1, -1]
        return float(jnp.mean(inputs)) / task.d, max(float(jnp.mean(labels)), 1e-300)


def fresh(model: Any, task: AbstractTask, key: PRNGKeyArray) -> Any:
    """Fresh normal numbers in the place of every array, as large as the old ones were: the start of most kinds."""
    del task

    def change(leaf, normal):
        size = jnp.sqrt(jnp.mean(leaf**2))
        return jnp.where(size > 0, size, SMALL).astype(leaf.dtype) * normal

    return with_normals(change, model, key)


def fresh_labels(model: Any, task: AbstractTask, key: PRNGKeyArray) -> Any:
    """The same for a layer that reads tokens by `v`, with the label read louder or less loud than the inputs.

    A head that reads the labels descends by the gradient; one that reads the inputs learns a single direction of it,
    and is stuck there. Which of the two it becomes depends on what it reads more of at the start.
    """
    first, second = jax.random.split(key)
    start = fresh(model, task, first)
    louder = jnp.exp(jax.random.uniform(second, (), minval=-1.0, maxval=3.0))
    return eqx.tree_at(lambda model: model.v, start, start.v.at[..., -1].multiply(louder))


def jiggled(model: Any, amount: float, key: PRNGKeyArray) -> Any:
    """The same weights plus normal numbers, `amount` times the root mean square of each array."""
    return with_normals(lambda leaf, normal: leaf + amount * jnp.sqrt(jnp.mean(leaf**2)) * normal, model, key)


def with_normals(change: Callable, model: Any, key: PRNGKeyArray) -> Any:
    """Every array of a model changed by `change(array, normal numbers of its shape)`."""
    arrays, static = eqx.partition(model, eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)
    keys = [jax.random.fold_in(key, index) for index in range(len(leaves))]
    changed = [
        change(leaf, jax.random.normal(each, leaf.shape, leaf.dtype)) for leaf, each in zip(leaves, keys, strict=True)
    ]
    return eqx.combine(jax.tree.unflatten(structure, changed), static)
