"""Errors, correlations and regressions, with intervals over queries, draws of demonstrations and wordings.

Arrays are (wordings, queries, seeds), or (queries, seeds) for one wording, NaN where an answer is missing: a query with
a missing answer is left out of the comparison, for all that are compared. A statistic is computed for each wording, and
their mean is the value; all guesses are seen on the same queries, so differences between them are paired. Its variance
has two parts:

- over queries and draws, by the jackknife that leaves out one draw with all queries that share it;
- over wordings, the variance of their mean, as if they were drawn from all that could have been written.

The second holds some of the first again, so the sum is rather too large than too small. The interval takes as many
standard errors as Student's t does, with Satterthwaite's degrees of freedom: few wordings that differ make it wide.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

from ._left_out import covariance_left_out, mean_left_out, spearman_left_out

LEVEL = 0.95
# With fewer draws than this, their spread can't be seen; each query is then left out by itself.
LEAST_DRAWS = 6
LEAST_QUERIES = 3
# A guess that is the label, but for rounding, or never varies, has no effect apart from the label's.
COLLINEAR = 0.999


@dataclass(frozen=True)
class Interval:
    """A number with its 95% interval, its standard error and the degrees of freedom of that; NaN without a meaning."""

    value: float
    low: float
    high: float
    error: float
    freedom: float = math.inf

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return "-"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


UNDEFINED = Interval(*[float("nan")] * 4)
# One number for arrays of one axis, an array for more.
Values = np.ndarray | np.floating
Statistic = Callable[..., Values]


def estimate(statistic: Statistic, *arrays: np.ndarray, together: int = 1) -> Interval:
    """A statistic, which maps arrays (..., cases) to (...), with its interval; `together` queries share a draw."""
    cells = [array if array.ndim == 3 else array[None] for array in arrays]
    whole = np.all([np.isfinite(array).all(axis=(0, 2)) for array in cells], axis=0)
    kept = [array[:, whole] for array in cells]
    wordings, queries, _ = kept[0].shape
    if queries < LEAST_QUERIES:
        return UNDEFINED
    groups = np.flatnonzero(whole) // together
    if len(np.unique(groups)) < LEAST_DRAWS:
        groups = np.arange(queries)

    cases = [array.reshape(wordings, -1) for array in kept]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.asarray(statistic(*cases), dtype=float)
        numbered = np.unique(groups, return_inverse=True)[1]
        left_out = _left_out(statistic, cases, np.repeat(numbered, kept[0].shape[2])).mean(axis=1)
    if not np.isfinite(found).all() or not np.isfinite(left_out).all():
        return UNDEFINED
    draws = len(left_out)
    parts = [((draws - 1) * float(left_out.var()), draws - 1)]
    if wordings > 1:
        parts.append((float(found.var(ddof=1)) / wordings, wordings - 1))
    return interval(float(found.mean()), parts)


def _left_out(statistic: Statistic, cases: list[np.ndarray], groups: np.ndarray) -> np.ndarray:
    """The statistic without each group of cases, (groups, wordings)."""
    if isinstance(statistic, Difference):
        first, second, gold = cases
        return _left_out(statistic.of, [first, gold], groups) - _left_out(statistic.of, [second, gold], groups)
    if statistic in _AT_ONCE:
        return _AT_ONCE[statistic](*cases, groups)
    chosen = (groups != group for group in range(groups.max() + 1))
    return np.array([statistic(*(array[:, each] for array in cases)) for each in chosen], dtype=float)


def interval(value: float, parts: list[tuple[float, int]]) -> Interval:
    """The interval of a value whose variance is a sum of estimates, each with its degrees of freedom.

    >>> interval(1.0, [(0.04, 10)]).error
    0.2
    """
    variance = sum(each for each, _ in parts)
    spread = sum(each**2 / freedom for each, freedom in parts)
    freedom = variance**2 / spread if spread > 0 else float(min(freedom for _, freedom in parts))
    error = math.sqrt(variance)
    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Interval(value, value - reach, value + reach, error, freedom)


def mse(answer: np.ndarray, gold: np.ndarray) -> Values:
    """Mean squared error."""
    return ((answer - gold) ** 2).mean(axis=-1)


def mae(answer: np.ndarray, gold: np.ndarray) -> Values:
    """Mean absolute error."""
    return np.abs(answer - gold).mean(axis=-1)


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


@dataclass(frozen=True)
class Difference:
    """The statistic of one answer less that of another, of the same labels: arguments first, second, gold."""

    of: Statistic

    def __call__(self, first: np.ndarray, second: np.ndarray, gold: np.ndarray) -> Values:
        """Computed for each."""
        return self.of(first, gold) - self.of(second, gold)


def difference(statistic: Statistic) -> Difference:
    """The difference of a statistic."""
    return Difference(statistic)


def _covariance(first: np.ndarray, second: np.ndarray) -> Values:
    return ((first - first.mean(axis=-1, keepdims=True)) * (second - second.mean(axis=-1, keepdims=True))).mean(axis=-1)


def _partial(answer: np.ndarray, of: np.ndarray, given: np.ndarray, covariance: Statistic = _covariance) -> Values:
    """The coefficient of `of` in the regression of the answer on both; NaN where the two can't be told apart."""
    spread, other, both = covariance(of, of), covariance(given, given), covariance(of, given)
    slope = (covariance(answer, of) * other - covariance(answer, given) * both) / (spread * other - both**2)
    return np.where(both**2 < COLLINEAR**2 * spread * other, slope, np.nan)


def _partial_left_out(answer: np.ndarray, of: np.ndarray, given: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return np.asarray(_partial(answer, of, given, lambda a, b: covariance_left_out(a, b, groups)))


# Those that are quick without each of many groups; others are computed once for each.
_AT_ONCE: dict[Statistic, Callable[..., np.ndarray]] = {
    mse: lambda answer, gold, groups: mean_left_out((answer - gold) ** 2, groups),
    mae: lambda answer, gold, groups: mean_left_out(np.abs(answer - gold), groups),
    spearman: spearman_left_out,
    copied: _partial_left_out,
    corrected: lambda answer, shown, gold, groups: _partial_left_out(answer, gold, shown, groups),
}
