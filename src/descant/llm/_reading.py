"""From what a model says to a score."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ._pairs import HIGH, LOW


@runtime_checkable
class Wording(Protocol):
    """What a model has to know of a wording to answer a prompt."""

    @property
    def score(self) -> str:
        """What stands before a score."""
        ...

    @property
    def end(self) -> str:
        """What stands after one."""
        ...

    @property
    def digits(self) -> int:
        """How many decimals it has."""
        ...

    @property
    def chat(self) -> str:
        """What a chat is told first."""
        ...

    @property
    def example(self) -> str:
        """Some stem, for seeing where a tokenizer cuts it."""
        ...

    def write(self, score: float) -> str:
        """A score as it stands in the prompt."""
        ...


@dataclass(frozen=True)
class Scale:
    """What the leading digits, 0, 1, ..., stand for: the mean of the training labels that are written with each.

    "3" begins 3.0 to 3.9, so it is worth about 3.4 where scores are shown with a decimal,
    and about 3 where they are whole. With most tokenizers a digit is a token of its own.
    """

    values: tuple[float, ...]
    low: float = LOW
    high: float = HIGH

    @classmethod
    def of(cls, labels: Sequence[float], wording: Wording, low: float = LOW, high: float = HIGH) -> "Scale":
        """The scale of a wording's way of writing; a digit that begins no label stands for itself."""
        by_digit: dict[str, list[float]] = {str(digit): [] for digit in range(int(wording.write(high)[0]) + 1)}
        for label in labels:
            by_digit[wording.write(label)[0]].append(label)
        means = (sum(found) / len(found) if found else float(digit) for digit, found in by_digit.items())
        return cls(tuple(means), low, high)

    @property
    def digits(self) -> tuple[str, ...]:
        """The digits that a score may begin with."""
        return tuple(map(str, range(len(self.values))))

    @property
    def digest(self) -> str:
        """What the scale is known by: an answer is a mean over it."""
        return hashlib.sha256(repr((self.values, self.low, self.high)).encode()).hexdigest()[:8]

    def expected(self, probabilities: Sequence[float]) -> float | None:
        """The mean score under probabilities of the digits, which need not sum to 1; None if they are all 0.

        >>> Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0)).expected((0.0, 0.0, 0.25, 0.25, 0.0, 0.0))
        2.5
        """
        total = sum(probabilities)
        if not total > 0:
            return None
        return sum(value * each for value, each in zip(self.values, probabilities, strict=True)) / total


@dataclass(frozen=True)
class Reply:
    """A model's answer to a prompt.

    `status` is "ok", or "ambiguous" where the text holds several numbers and another might be meant, or why there is no
    answer: "refused", "not a number", "out of range", "cut off", "no score tokens". `mass` is the probability that any
    of the digits comes next, and `along` the answers at the demonstrations, where they were read.
    """

    answer: float | None
    status: str = "ok"
    probabilities: tuple[float, ...] = ()
    mass: float | None = None
    along: tuple[float | None, ...] = field(default=())
    text: str = ""
