"""Stands in for what the core of judging brings; goes when that is here."""

from typing import NamedTuple

import numpy as np


class Mean(NamedTuple):
    """A mean, its standard error, and its degrees of freedom."""

    value: float
    error: float
    freedom: int | None = None


def mean_over(values) -> Mean:
    """Of independent values."""
    values = np.asarray(values, float)
    return Mean(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5), len(values) - 1)


def paired(first, second) -> Mean:
    """Of differences on the same draws."""
    return mean_over(np.asarray(first) - np.asarray(second))
