"""What came out, as tables: by guess, by the distance of the guess, and by the number of demonstrations."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._results import Results
from ._statistics import Interval, bootstrap, copied, corrected, difference, mse, pearson, spearman

# Guesses whose distance from the label varies by itself. Gold's is nothing, and self's is the model's own error.
VARIED = ("random", "shuffled", "jaccard", "embedding")
# |guess - label| in these bins; the scale is 5 wide.
EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class GuessRow:
    """One guess: the model with it, the guess alone, and how the answer depends on guess and label.

    `gain_mse` and `gain_spearman` are what is gained over no guess, positive if the guess helps. `failed` counts
    prompts without a score, and `mass` is the mean probability of the six digits, where it is known.
    """

    guess: str
    mse: Interval
    pearson: Interval
    spearman: Interval
    alone_mse: Interval
    alone_pearson: Interval
    alone_spearman: Interval
    gain_mse: Interval
    gain_spearman: Interval
    copied: Interval
    corrected: Interval
    mass: float
    answered: int
    failed: int


def summary(results: Results) -> list[GuessRow]:
    """A row for each guess. Where nothing is shown, what is said of the guess has no meaning, and is NaN."""
    rows = []
    none = results.answer.get("none")
    for kind in results.guesses:
        answer, shown, gold = results.answer[kind], results.shown[kind], results.gold
        alone = kind != "none"
        other = none if alone and none is not None else np.full_like(gold, np.nan)
        masses = results.mass[kind][np.isfinite(results.mass[kind])]
        rows.append(
            GuessRow(
                guess=kind,
                mse=bootstrap(mse, answer, gold),
                pearson=bootstrap(pearson, answer, gold),
                spearman=bootstrap(spearman, answer, gold),
                alone_mse=bootstrap(mse, shown, gold),
                alone_pearson=bootstrap(pearson, shown, gold),
                alone_spearman=bootstrap(spearman, shown, gold),
                gain_mse=bootstrap(difference(mse), other, answer, gold),
                gain_spearman=bootstrap(difference(spearman), answer, other, gold),
                copied=bootstrap(copied, answer, shown, gold),
                corrected=bootstrap(corrected, answer, shown, gold),
                mass=float(masses.mean()) if masses.size else float("nan"),
                answered=results.statuses[kind].get("ok", 0),
                failed=sum(count for status, count in results.statuses[kind].items() if status != "ok"),
            )
        )
    return rows


@dataclass(frozen=True)
class DistanceRow:
    """Answers whose guess is at some distance from the label.

    Squared distance, squared error, and, on the same queries, the squared error without a guess: all are means, in
    squared points of the scale.
    """

    low: float
    high: float
    cases: int
    distance: float
    error: Interval
    without: Interval


def by_distance(results: Results) -> list[DistanceRow]:
    """Errors by the distance of the guess, all varied guesses together."""
    kinds = [kind for kind in VARIED if kind in results.guesses]
    if not kinds:
        return []
    gold = results.gold
    distance = np.stack([np.abs(results.shown[kind] - gold) for kind in kinds])
    error = np.stack([(results.answer[kind] - gold) ** 2 for kind in kinds])
    none = results.answer.get("none", np.full_like(gold, np.nan))
    without = np.broadcast_to((none - gold) ** 2, error.shape)
    rows = []
    for low, high in pairwise(EDGES):
        # Shown with one decimal, distances lie on a grid; the last bin holds its end.
        inside = (distance >= low) & ((distance < high) | (high == EDGES[-1])) & np.isfinite(error)
        if inside.sum() >= 5:
            mean = float((distance[inside] ** 2).mean())
            rows.append(
                DistanceRow(low, high, int(inside.sum()), mean, _masked(error, inside), _masked(without, inside))
            )
    return rows


def _masked(values: np.ndarray, inside: np.ndarray) -> Interval:
    """The mean over the cases inside, (guesses, queries, seeds); queries are resampled with all their guesses."""
    inside = inside & np.isfinite(values)
    total, count = np.where(inside, values, 0.0).sum(axis=0), inside.sum(axis=0).astype(float)
    return bootstrap(lambda t, c: t.sum(axis=-1) / c.sum(axis=-1), total, count)


@dataclass(frozen=True)
class ShotsRow:
    """Answers after so many demonstrations, with a guess: their error, and the share of the guess that is copied."""

    guess: str
    shots: int
    mse: Interval
    copied: Interval


def by_shots(results: Results) -> list[ShotsRow]:
    """Errors by the number of demonstrations. The model answers each demonstration from those before it, on its way.

    These are training pairs, those of the last row test pairs. A model that can't be read on its way has that row only.
    """
    rows = []
    for kind in results.guesses:
        along = results.along[kind]
        for place in range(along.answer.shape[1]):
            answer, gold, shown = (array[:, [place]] for array in (along.answer, along.gold, along.shown))
            share = bootstrap(copied, answer, shown, gold)
            rows.append(ShotsRow(kind, place, bootstrap(mse, answer, gold), share))
        answer, gold, shown = results.answer[kind], results.gold, results.shown[kind]
        rows.append(
            ShotsRow(kind, results.asked.shots, bootstrap(mse, answer, gold), bootstrap(copied, answer, shown, gold))
        )
    return rows
