"""Means and their errors over few values, differences on the same draws, and how heavy a tail is."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Mean(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of that."""

    value: float
    error: float
    freedom: float


def mean_over(values: Sequence[float] | Float[np.ndarray, " k"]) -> Mean:
    """The mean of independent values, such as one per seed.

    >>> mean_over([1.0, 2.0, 3.0])
    Mean(value=2.0, error=0.5773502691896258, freedom=2.0)
    """
    found = np.asarray(values, dtype=float)
    if found.ndim != 1 or len(found) < 2:
        raise ValueError(f"values have the shape {found.shape}; expected at least two in a row.")
    return Mean(float(found.mean()), float(found.std(ddof=1) / math.sqrt(len(found))), float(len(found) - 1))


def paired(first: Sequence[float] | Float[np.ndarray, " k"], second: Sequence[float] | Float[np.ndarray, " k"]) -> Mean:
    """The mean of first - second, where both of a pair were found on the same draws.

    >>> paired([1.5, 2.5, 3.5], [1.0, 2.0, 3.0])
    Mean(value=0.5, error=0.0, freedom=2.0)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values stand beside {len(second)}; expected pairs.")
    return mean_over(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))


def worst_share(losses: Sequence[float] | Float[np.ndarray, " k"], worst: int = 10) -> float:
    """The share of the mean that the worst samples carry: near 1, the standard error can't be trusted.

    >>> worst_share([1.0] * 90 + [10.0] * 10)
    0.5263157894736842
    """
    found = np.sort(np.asarray(losses, dtype=float).ravel())
    return float(found[-worst:].sum() / found.sum())
