"""Prompts: demonstrations with their scores, then a pair without."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ._pairs import Labelled, Pair
from ._templates import Template


@dataclass(frozen=True)
class Prompt:
    """A text in pieces. Each stem ends where a score belongs; all but the last are followed by one.

    A model that reads from left to right answers at the end of every stem, with the demonstrations before it: place i
    is the end of stem i, which has i demonstrations before it, and the last place is the query's.
    """

    stems: tuple[str, ...]
    scores: tuple[str, ...]

    def __post_init__(self):
        if len(self.stems) != len(self.scores) + 1:
            raise ValueError(f"{len(self.stems)} stems and {len(self.scores)} scores; expected one stem more.")

    @property
    def before(self) -> str:
        """The demonstrations."""
        return "".join(stem + score for stem, score in zip(self.stems, self.scores, strict=False))

    @property
    def text(self) -> str:
        """The whole prompt."""
        return self.before + self.stems[-1]

    @property
    def places(self) -> list[int]:
        """Where the stems end, in characters."""
        ends, position = [], 0
        for stem, score in zip(self.stems, (*self.scores, ""), strict=True):
            ends.append(position + len(stem))
            position += len(stem) + len(score)
        return ends

    @property
    def digest(self) -> str:
        """What the prompt is known by."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:24]

    def cut(self, place: int) -> "Prompt":
        """The prompt up to an earlier place: that demonstration is asked for, and those before it are shown."""
        return Prompt(self.stems[: place + 1], self.scores[:place])


def build(
    template: Template,
    demonstrations: Sequence[Labelled],
    query: Pair,
    shown: Sequence[float] | None = None,
    *,
    everywhere: bool = True,
) -> Prompt:
    """A prompt. `shown` are the guesses of the demonstrations and, last, of the query; None shows none.

    With `everywhere` false only the query's guess is shown. The query comes as a `Pair`, which has no label.
    """
    pairs = [*(each.pair for each in demonstrations), query]
    guesses: list[float | None] = [None] * len(pairs) if shown is None else [*shown]
    if len(guesses) != len(pairs):
        raise ValueError(f"{len(guesses)} guesses for {len(pairs)} pairs; expected one each.")
    if not everywhere:
        guesses = [*[None] * len(demonstrations), guesses[-1]]
    stems = [template.stem(pair.first, pair.second, guess) for pair, guess in zip(pairs, guesses, strict=True)]
    stems[0] = template.head + stems[0]
    return Prompt(tuple(stems), tuple(template.write(each.score) + template.end for each in demonstrations))
