"""What came out, as tables: by guess, by wording, by the distance of the guess, and by the number of demonstrations."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._statistics import Interval, copied, corrected, difference, estimate, mae, mse, pearson, spearman
from ._study import Study

# Guesses whose distance from the label varies by itself. Gold's is nothing, and self's is the model's own error.
VARIED = ("random", "shuffled", "jaccard", "embedding")
# |guess - label| in these bins, as parts of the scale's width.
EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0)
# Answers on the way are those of a draw, whoever shares it: with fewer draws there is nothing to see.
LEAST_ALONG = 30


@dataclass(frozen=True)
class GuessRow:
    """One guess: the model with it, the guess alone, and how the answer depends on guess and label.

    `gain_mse` and `gain_spearman` are what is gained over no guess, positive if the guess helps; `displaced` is what is
    lost in correlation. `failed` counts prompts without a score, `ambiguous` those whose text left a doubt, and `mass`
    is the mean probability of the digits, where it is known.
    """

    guess: str
    mse: Interval
    mae: Interval
    pearson: Interval
    spearman: Interval
    alone_mse: Interval
    alone_mae: Interval
    alone_pearson: Interval
    alone_spearman: Interval
    gain_mse: Interval
    gain_spearman: Interval
    displaced: Interval
    copied: Interval
    corrected: Interval
    mass: float
    answered: int
    ambiguous: int
    failed: int


def summary(study: Study) -> list[GuessRow]:
    """A row for each guess. Where nothing is shown, what is said of the guess has no meaning, and is NaN."""
    rows = []
    gold = study.gold
    nothing = np.full_like(gold, np.nan)
    none = study.answer("none") if "none" in study.guesses else nothing
    for kind in study.guesses:
        answer, shown = study.answer(kind), study.shown(kind)
        other = none if kind != "none" else nothing
        masses = np.concatenate([each.mass[kind].ravel() for each in study.wordings.values()])
        statuses = study.statuses(kind)
        rows.append(
            GuessRow(
                guess=kind,
                mse=study.estimate(mse, answer, gold),
                mae=study.estimate(mae, answer, gold),
                pearson=study.estimate(pearson, answer, gold),
                spearman=study.estimate(spearman, answer, gold),
                alone_mse=study.estimate(mse, shown, gold),
                alone_mae=study.estimate(mae, shown, gold),
                alone_pearson=study.estimate(pearson, shown, gold),
                alone_spearman=study.estimate(spearman, shown, gold),
                gain_mse=study.estimate(difference(mse), other, answer, gold),
                gain_spearman=study.estimate(difference(spearman), answer, other, gold),
                displaced=study.estimate(difference(spearman), other, answer, gold),
                copied=study.estimate(copied, answer, shown, gold),
                corrected=study.estimate(corrected, answer, shown, gold),
                mass=float(np.nanmean(masses)) if np.isfinite(masses).any() else float("nan"),
                answered=statuses["ok"] + statuses["ambiguous"],
                ambiguous=statuses["ambiguous"],
                failed=sum(count for status, count in statuses.items() if status not in ("ok", "ambiguous")),
            )
        )
    return rows


@dataclass(frozen=True)
class WordingRow:
    """One wording: what the model knows in it without a guess and with `embedding`, and on the queries of the choice.

    Intervals are over queries and draws.
    """

    wording: str
    chosen: bool
    choice: Interval
    none: Interval
    embedding: Interval
    shuffled: Interval
    copied: Interval


def by_wording(study: Study) -> list[WordingRow]:
    """A row for each wording: Spearman correlations, and how much of the guess `embedding` is copied."""
    rows = []
    for name in study.wordings:
        one = study.only(name)
        nothing = np.full_like(one.gold, np.nan)

        def of(kind: str, one: Study = one, nothing: np.ndarray = nothing) -> np.ndarray:
            return one.answer(kind) if kind in one.guesses else nothing

        known = one.shown("embedding") if "embedding" in one.guesses else nothing
        rows.append(
            WordingRow(
                wording=name,
                chosen=name == study.chosen,
                choice=study.unaided.get(name, one.estimate(spearman, nothing, nothing)),
                none=one.estimate(spearman, of("none"), one.gold),
                embedding=one.estimate(spearman, of("embedding"), one.gold),
                shuffled=one.estimate(spearman, of("shuffled"), one.gold),
                copied=one.estimate(copied, of("embedding"), known, one.gold),
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


def by_distance(study: Study) -> list[DistanceRow]:
    """Errors by the distance of the guess, all varied guesses together."""
    kinds = [kind for kind in VARIED if kind in study.guesses]
    if not kinds:
        return []
    gold = study.gold
    distance = np.stack([np.abs(study.shown(kind) - gold) for kind in kinds])
    error = np.stack([(study.answer(kind) - gold) ** 2 for kind in kinds])
    none = study.answer("none") if "none" in study.guesses else np.full_like(gold, np.nan)
    without = np.broadcast_to((none - gold) ** 2, error.shape)
    width = study.first.asked.width
    rows = []
    for low, high in pairwise(width * edge for edge in EDGES):
        # Shown with one decimal, distances lie on a grid; the last bin holds its end.
        inside = (distance >= low) & ((distance < high) | (high == width)) & np.isfinite(error)
        if inside.sum() >= 5 * len(study.wordings):
            mean = float((distance[inside] ** 2).mean())
            errors = _masked(study, error, inside), _masked(study, without, inside)
            rows.append(DistanceRow(low, high, int(inside.sum()), mean, *errors))
    return rows


def _masked(study: Study, values: np.ndarray, inside: np.ndarray) -> Interval:
    """The mean over the cases inside, (guesses, wordings, queries, seeds)."""
    inside = inside & np.isfinite(values)
    total, count = np.where(inside, values, 0.0).sum(axis=0), inside.sum(axis=0).astype(float)
    return study.estimate(lambda t, c: t.sum(axis=-1) / c.sum(axis=-1), total, count)


@dataclass(frozen=True)
class ShotsRow:
    """Answers after so many demonstrations, with a guess: their error, and the share of the guess that is copied."""

    wording: str
    guess: str
    shots: int
    mse: Interval
    copied: Interval


def by_shots(study: Study) -> list[ShotsRow]:
    """Errors by the number of demonstrations. The model answers each demonstration from those before it, on its way.

    These are training pairs, those of the last row test pairs. A model that can't be read on its way, or was asked with
    few draws, has that row only.
    """
    rows = []
    for name, results in study.wordings.items():
        together = results.asked.together
        for kind in results.guesses:
            along = results.along.get(kind)
            places = 0 if along is None or len(along.answer) < LEAST_ALONG else along.answer.shape[1]
            for place in range(places):
                assert along is not None
                answer, gold, shown = (array[:, [place]] for array in (along.answer, along.gold, along.shown))
                rows.append(
                    ShotsRow(name, kind, place, estimate(mse, answer, gold), estimate(copied, answer, shown, gold))
                )
            answer, gold, shown = results.answer[kind], results.gold, results.shown[kind]
            rows.append(
                ShotsRow(
                    name,
                    kind,
                    results.asked.shots,
                    estimate(mse, answer, gold, together=together),
                    estimate(copied, answer, shown, gold, together=together),
                )
            )
    return rows
