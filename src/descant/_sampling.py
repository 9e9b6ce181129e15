"""Means over random draws with their standard errors, in bounded memory and on all cores."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import ArrayLike

from . import _check
from ._cores import cores
from ._watching import DRAWN, watching

# Draws that are held at once: small enough for the caches, large enough to hide what a call costs.
CHUNK = 4096
# A standard error of a thirty-thousandth of the spread; more would take days, and memory for what is told of chunks.
MOST_SAMPLES = 10**9


def standard_error(values: ArrayLike, axis: int | None = None) -> Any:
    """The standard error of the mean of independent `values`, all of them or along an axis: a number or an array."""
    values = np.asarray(values)
    count = values.size if axis is None else values.shape[axis]
    return values.std(axis=axis, ddof=1) / count**0.5


@eqx.filter_jit
def _chunk_statistics(statistic: Callable, subject: Any, key: PRNGKeyArray, index: Array, chunk: int):
    keys = jax.random.split(jax.random.fold_in(key, index), chunk)
    values = jax.vmap(statistic, in_axes=(None, 0))(subject, keys)
    mean = jnp.mean(values, axis=0)
    return mean, jnp.sum((values - mean[None]) ** 2, axis=0)


def mean_over_keys(
    statistic: Callable[[Any, PRNGKeyArray], Array], subject: Any, key: PRNGKeyArray, samples: int, chunk: int = CHUNK
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of `statistic(subject, key)` over independent keys, entry by entry.

    `statistic` should be a function of a module, not a closure: the compiled program is kept per statistic and per
    structure of the subject, and serves every subject of the same shapes. The number of samples is rounded up to whole
    chunks. Sums of squares are merged about each chunk's own mean (Chan's formula), because a plain sum of squares
    loses the spread of many nearly equal values.
    """
    _check.size("samples", samples, least=2, most=MOST_SAMPLES)
    chunk = min(chunk, samples)
    chunks = -(-samples // chunk)

    def run(index: int) -> tuple[np.ndarray, np.ndarray]:
        mean, squares = _chunk_statistics(statistic, subject, key, jnp.asarray(index), chunk)
        return np.asarray(mean), np.asarray(squares)

    # The first chunk compiles. The others run side by side: XLA keeps one core busy with work of this size.
    results, told = [run(0)], watching.get()
    with ThreadPoolExecutor(cores()) as pool:
        for result in pool.map(run, range(1, chunks)):
            results.append(result)
            told(len(results) / chunks, DRAWN)
    means, squares = (np.array(part) for part in zip(*results, strict=True))
    total = chunks * chunk
    mean = np.asarray(means.mean(axis=0))
    spread = squares.sum(axis=0) + chunk * ((means - mean) ** 2).sum(axis=0)
    return mean, np.asarray(np.sqrt(spread / (total - 1) / total))
