"""From what a model says to a score."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ._pairs import HIGH, LOW, Labelled
from ._templates import Template

# A score is written with a leading digit of 0 to 5, which is a token of its own with most tokenizers.
DIGITS = tuple("012345")


@dataclass(frozen=True)
class Scale:
    """What the leading digits stand for: the mean of the training labels that are written with each.

    "3" begins 3.0 to 3.9, so it is worth about 3.4 where scores are shown with a decimal,
    and about 3 where they are whole.
    """

    values: tuple[float, ...]

    @classmethod
    def of(cls, train: Sequence[Labelled], template: Template) -> "Scale":
        """The scale of a template's way of writing; a digit that begins no label stands for itself."""
        by_digit: dict[str, list[float]] = {digit: [] for digit in DIGITS}
        for each in train:
            by_digit[template.write(each.score)[0]].append(each.score)
        return cls(tuple(sum(found) / len(found) if found else float(digit) for digit, found in by_digit.items()))

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

    `status` is "ok", or why there is no answer: "refused", "not a number", "out of range", "no score tokens". `mass` is
    the probability that any of the six digits comes next, and `along` the answers at the demonstrations, where they
    were read.
    """

    answer: float | None
    status: str = "ok"
    probabilities: tuple[float, ...] = ()
    mass: float | None = None
    along: tuple[float | None, ...] = field(default=())
    text: str = ""


# "from 0 to 5" names the scale, not a score.
_RANGE = re.compile(r"\b0\s*(?:-|–|to|and|through)\s*5\b")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)?(?![\w]|[.,]\d)")


def parse_score(text: str) -> tuple[float | None, str]:
    """The score that a text gives, and a status. "3.5", "Score: 3,5" and "3.5/5" are 3.5.

    >>> parse_score("The score is 3.5 out of 5.")
    (3.5, 'ok')
    >>> parse_score("I would say seven.")
    (None, 'not a number')
    """
    found = _NUMBER.search(_RANGE.sub("", text))
    if found is None:
        return None, "not a number"
    value = float(found.group().replace(",", "."))
    return (value, "ok") if LOW <= value <= HIGH else (None, "out of range")
