"""The numbers of a program, where they stand in its network: step sizes, shrinkages, constant matrices.

A value that is one product as it is, or a copy, has no number of its own; nor has a factor that is a single place: its
size is that of the head, which stands with the value.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..decompile import Recovered
from ..schedule import Block, Head, Reading, Write

COEFFICIENTS, MATRICES, ALL = "coefficients", "matrices", "all"
# What of a compiled program a training may move, from few numbers to all.
FREE = (COEFFICIENTS, MATRICES, ALL)


@dataclass(frozen=True)
class Number:
    """A coefficient, or a constant matrix: a rectangle of one of a block's arrays, and what it multiplies, in words."""

    block: int
    array: str
    head: int
    row: int
    column: int
    start: np.ndarray
    words: str
    # Whether it is a factor by itself, the identity as a rule: free as a matrix only.
    matrix: bool = False


def numbers(recovered: Recovered) -> list[Number]:
    """Every number of a program, block by block."""
    blocks = enumerate(recovered.schedule.blocks())
    return list(chain.from_iterable(_Block(recovered, index, block).numbers() for index, block in blocks))


class _Block:
    def __init__(self, recovered: Recovered, index: int, block: Block):
        self.places, self.index, self.block = recovered.schedule.places, index, block
        layout = recovered.layout
        self.before, self.after = layout.before[index], layout.after[index]
        self.moving = ("w3", "b3") if layout.rows >= layout.columns else ("w2", "b2")
        self.parts = Counter(
            {write.place: 0 for write in block.carry}
            | {write.place: 0 for head in block.heads for write in head.values}
        )
        for write in chain(block.carry, *(head.values for head in block.heads)):
            self.parts[write.place] += _parts(write.reading)

    def numbers(self) -> Iterator[Number]:
        carries = bool(self.block.carry or self.block.kept or not self.block.heads)
        for write in self.block.carry:
            if not self._as_it_is(write):
                yield from self._of(write.reading, 0, self.moving, self.after[write.place], self._arrow(write.place))
        for head, index in zip(self.block.heads, range(carries, carries + len(self.block.heads)), strict=True):
            yield from self._head(head, index)

    def _head(self, head: Head, index: int) -> Iterator[Number]:
        query, key = (self._words(each) for each in (head.query, head.key))
        for write in head.values:
            if not self._as_it_is(write):
                before = f"{self._arrow(write.place)}{_product(query, key)}"
                yield from self._of(write.reading, index, ("w2", "b2"), self.after[write.place], before)
        to = ", ".join(self.places[write.place].name for write in head.values)
        for reading, names, what in ((head.query, ("w3", "b3"), "left"), (head.key, ("w1", "b1"), "middle")):
            found = [*self._of(reading, index, names, 0, f"{to} ← {what} factor ")]
            if len(found) > 1:
                yield from found[1:]
            elif reading.is_constant:
                yield Number(**{**vars(found[0]), "matrix": True})

    def _of(self, reading: Reading, head: int, names: tuple[str, str], column: int, before: str) -> Iterator[Number]:
        for place, right in reading.terms:
            words = f"{before}{self.places[place].name}"
            yield Number(self.index, names[0], head, self.before[place], column, right, words)
        if reading.constant is not None:
            yield Number(self.index, names[1], head, 0, column, reading.constant, f"{before}constant".rstrip(" ·"))

    def _as_it_is(self, write: Write) -> bool:
        """Whether a value is one product, or one place, and no number with it."""
        reading = write.reading
        if self.parts[write.place] != 1:
            return False
        factor = reading.constant if reading.is_constant else reading.terms[0][1]
        return factor is not None and np.array_equal(factor, np.eye(*factor.shape))

    def _arrow(self, place: int) -> str:
        return f"{self.places[place].name} ← "

    def _words(self, reading: Reading) -> str:
        names = [self.places[place].name for place, _ in reading.terms]
        if reading.constant is not None:
            names.append("I" if np.array_equal(reading.constant, np.eye(*reading.shape)) else "C")
        return " + ".join(names) if len(names) == 1 else f"({' + '.join(names)})"


def _parts(reading: Reading) -> int:
    return len(reading.terms) + (reading.constant is not None)


def _product(query: str, key: str) -> str:
    """What stands before the value of a head."""
    if key == "I":
        return "" if query == "I" else f"{query} · "
    turned = f"({key})ᵀ" if " " in key and not key.startswith("(") else f"{key}ᵀ"
    return f"{turned} · " if query == "I" else f"{query} · {turned} · "
