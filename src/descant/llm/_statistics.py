"""Errors, correlations and regressions with paired bootstrap intervals.

Queries are drawn again with replacement and, where there are several, so are the draws of demonstrations; all guesses
are seen on the same resamples, so differences between them are paired. Arrays are (queries, seeds), NaN where an answer
is missing: a query with a missing answer is left out of the comparison, for all that are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

RESAMPLES = 2000
LEVEL = 0.95
# Resamples that are computed at a time.
CHUNK = 250
# A guess that is the label, but for rounding, or never varies, has no effect apart from the label's.
COLLINEAR = 0.999


@dataclass(frozen=True)
class Interval:
    """A number with its 95% bootstrap interval and its bootstrap standard error; NaN where it has no meaning."""

    value: float
    low: float
    high: float
    error: float

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return "-"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


UNDEFINED = Interval(*[float("nan")] * 4)
# One number for arrays of one axis, an array for more.
Values = np.ndarray | np.floating
Statistic = Callable[..., Values]


def bootstrap(statistic: Statistic, *arrays: np.ndarray, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """A statistic of arrays (queries, seeds), which maps arrays (..., cases) to (...), with its percentile interval."""
    whole = np.all([np.isfinite(array).all(axis=1) for array in arrays], axis=0)
    kept = [array[whole] for array in arrays]
    queries, seeds = kept[0].shape
    if queries < 3:
        return UNDEFINED
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(statistic(*(array.reshape(-1) for array in kept)))
        if not np.isfinite(value):
            return UNDEFINED
        random = np.random.default_rng(seed)
        found = []
        for start in range(0, resamples, CHUNK):
            count = min(CHUNK, resamples - start)
            rows = random.integers(queries, size=(count, queries))
            columns = random.integers(seeds, size=(count, seeds))
            found.append(
                statistic(*(array[rows[:, :, None], columns[:, None, :]].reshape(count, -1) for array in kept))
            )
    # A resample of a few queries may have no value, say if all their labels are equal.
    drawn = np.concatenate(found)
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high), float(np.nanstd(drawn)))


def mse(answer: np.ndarray, gold: np.ndarray) -> Values:
    """Mean squared error."""
    return ((answer - gold) ** 2).mean(axis=-1)


def pearson(answer: np.ndarray, gold: np.ndarray) -> Values:
    """Correlation; NaN if either never varies."""
    return _covariance(answer, gold) / np.sqrt(_covariance(answer, answer) * _covariance(gold, gold))


def spearman(answer: np.ndarray, gold: np.ndarray) -> Values:
    """Correlation of ranks, equal values sharing theirs."""
    return pearson(rankdata(answer, axis=-1), rankdata(gold, axis=-1))


def copied(answer: np.ndarray, shown: np.ndarray, gold: np.ndarray) -> Values:
    """The coefficient of the guess in the regression of the answer on guess and label: how much of it is copied."""
    return _partial(answer, shown, gold)


def corrected(answer: np.ndarray, shown: np.ndarray, gold: np.ndarray) -> Values:
    """The coefficient of the label in that regression: what the model knows beyond the guess."""
    return _partial(answer, gold, shown)


def within_slope(*arrays: np.ndarray) -> Values:
    """How fast the squared error grows with the squared distance of the guess, from guesses of the same query alone.

    `arrays` are squared errors of several guesses, then their squared distances. Means over the guesses of a query are
    taken off first: a hard query has large errors whatever is guessed, and would be mistaken for an effect of the
    guess.
    """
    half = len(arrays) // 2
    error, distance = np.stack(arrays[:half]), np.stack(arrays[half:])
    error, distance = error - error.mean(axis=0), distance - distance.mean(axis=0)
    return (error * distance).sum(axis=(0, -1)) / (distance**2).sum(axis=(0, -1))


def difference(statistic: Statistic) -> Statistic:
    """The statistic of one answer less that of another, of the same labels: arguments first, second, gold."""
    return lambda first, second, gold: statistic(first, gold) - statistic(second, gold)


def _partial(answer: np.ndarray, of: np.ndarray, given: np.ndarray) -> Values:
    """The coefficient of `of` in the regression of the answer on both; NaN where the two can't be told apart."""
    spread, other, both = _covariance(of, of), _covariance(given, given), _covariance(of, given)
    slope = (_covariance(answer, of) * other - _covariance(answer, given) * both) / (spread * other - both**2)
    return np.where(both**2 < COLLINEAR**2 * spread * other, slope, np.nan)


def _covariance(first: np.ndarray, second: np.ndarray) -> Values:
    return ((first - first.mean(axis=-1, keepdims=True)) * (second - second.mean(axis=-1, keepdims=True))).mean(axis=-1)
