"""A word as one head, and what it costs to have it."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..graph import Word
from ..language import Constant


class Price(NamedTuple):
    """Blocks first, then columns and heads. A tuple, because Python compares those fast."""

    time: float
    cost: float

    def together(self, *others: "Price") -> "Price":
        """The price of all of them, which may be had side by side."""
        time, cost = self
        for other_time, other_cost in others:
            time = max(time, other_time)
            cost += other_cost
        return Price(time, cost)


FREE = Price(0, 0.0)
NEVER = Price(math.inf, math.inf)


@dataclass(frozen=True)
class Split:
    """A word as one head: f, g and h. If g and h are empty, f is a direct reading: H times a constant."""

    f: Word
    g: Word
    h: Word

    @property
    def direct(self) -> bool:
        """Whether no head of its own is needed: the head that carries can do it."""
        return not self.g and not self.h


def trimmed(word: Word) -> Word:
    """Without the constant at its right end."""
    return word[:-1] if word and isinstance(word[-1], Constant) else word
