"""One model on one data set, in several wordings: the same queries with the same demonstrations in each."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ._results import Results
from ._statistics import UNDEFINED, Interval, Statistic, estimate


@dataclass(frozen=True)
class Study:
    """Results by wording. `chosen` is the wording in which the model knows most without a guess.

    It is chosen on queries that are not judged; `unaided` has, by wording, the Spearman correlation there.
    """

    wordings: dict[str, Results]
    chosen: str
    unaided: dict[str, Interval] = field(default_factory=dict)

    @classmethod
    def of(cls, *results: Results) -> "Study":
        """A study without a choice: the first wording stands in its place."""
        named = {each.asked.template.split("@")[0]: each for each in results}
        return cls(named, next(iter(named)))

    def __post_init__(self):
        first = self.first.asked
        for each in self.wordings.values():
            same = ("model", "guesses", "where", "shots", "together", "data", "queries", "seeds")
            differ = [name for name in same if getattr(each.asked, name) != getattr(first, name)]
            if differ:
                raise ValueError(f"wordings of one study differ in {', '.join(differ)}; expected the same questions.")
        if self.chosen not in self.wordings:
            raise ValueError(f"chosen is {self.chosen!r}; expected one of: {', '.join(self.wordings)}.")

    @property
    def first(self) -> Results:
        """One of them, for what all have in common."""
        return next(iter(self.wordings.values()))

    @property
    def guesses(self) -> tuple[str, ...]:
        """The guesses that were asked with."""
        return self.first.asked.guesses

    @property
    def gold(self) -> np.ndarray:
        """The labels, (wordings, queries, seeds)."""
        return np.stack([each.gold for each in self.wordings.values()])

    def answer(self, kind: str) -> np.ndarray:
        """The answers with a guess, (wordings, queries, seeds)."""
        return np.stack([each.answer[kind] for each in self.wordings.values()])

    def shown(self, kind: str) -> np.ndarray:
        """The guesses, as they stood in the prompts."""
        return np.stack([each.shown[kind] for each in self.wordings.values()])

    def statuses(self, kind: str) -> Counter[str]:
        """How answers ended."""
        return sum((Counter(each.statuses[kind]) for each in self.wordings.values()), Counter())

    @property
    def unanswered(self) -> int:
        """How many prompts never got an answer."""
        return sum(each.unanswered for each in self.wordings.values())

    def only(self, wording: str) -> "Study":
        """One wording of it."""
        return Study({wording: self.wordings[wording]}, wording)

    def estimate(self, statistic: Statistic, *arrays: np.ndarray) -> Interval:
        """A statistic with its interval over queries, draws and wordings; undefined if something was not asked."""
        if any(array.size == 0 for array in arrays):
            return UNDEFINED
        return estimate(statistic, *arrays, together=self.first.asked.together)
