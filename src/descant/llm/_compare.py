"""Two models on the same questions, such as a base model and the one that was tuned from it to follow instructions."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ._statistics import Interval, Statistic, Values, copied, estimate, mse, spearman
from ._study import Study


@dataclass(frozen=True)
class CompareRow:
    """One guess: what the first model has less the second's, on the same queries, draws and wordings."""

    guess: str
    mse: Interval
    spearman: Interval
    copied: Interval
    displaced: Interval


def compare(first: Study, second: Study) -> list[CompareRow]:
    """The first model less the second, for every guess that both were given."""
    same = ("where", "shots", "together", "data", "queries", "seeds")
    one, other = first.first.asked, second.first.asked
    differ = [name for name in same if getattr(one, name) != getattr(other, name)]
    differ += [] if list(first.wordings) == list(second.wordings) else ["wordings"]
    if differ:
        raise ValueError(
            f"the two were not asked the same: they differ in {', '.join(differ)}; expected the same command for both, "
            "but for --model."
        )
    gold, together = first.gold, one.together

    def paired(statistic: Statistic, kind: str, *more: str) -> Interval:
        """The difference of a statistic of answers (and guesses or answers without one) and labels."""
        arrays = [each for study in (first, second) for each in _arrays(study, kind, *more)]
        half = len(arrays) // 2
        return estimate(
            lambda *found: statistic(*found[:half], found[-1]) - statistic(*found[half:-1], found[-1]),
            *arrays,
            gold,
            together=together,
        )

    def lost(answer: np.ndarray, none: np.ndarray, gold: np.ndarray) -> Values:
        return spearman(none, gold) - spearman(answer, gold)

    kinds = [kind for kind in first.guesses if kind in second.guesses]
    bare = "none" in kinds
    return [
        CompareRow(
            kind,
            paired(mse, kind),
            paired(spearman, kind),
            paired(copied, kind, "shown"),
            paired(lost, kind, "none") if bare and kind != "none" else paired(copied, "none", "shown"),
        )
        for kind in kinds
    ]


def _arrays(study: Study, kind: str, *more: str) -> Iterator[np.ndarray]:
    yield study.answer(kind)
    for each in more:
        yield study.shown(kind) if each == "shown" else study.answer(each)
