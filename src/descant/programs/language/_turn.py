"""Instructions that turn a matrix: its rows, or its columns, move up cyclically, by products with 0 and 1 only.

What a loop reads at a place that moves with its index stands still in a copy that is turned once in every iteration.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ._index import Turn
from ._instructions import Constant, Instruction
from ._repeat import Tape, Workshop


@lru_cache(maxsize=64)
def shift(size: int, by: int) -> Constant:
    """The matrix that moves row `by` to the top."""
    return Constant(np.roll(np.eye(size), -by, axis=0))


def known(workshop: Workshop, tape: Tape, array: Constant) -> int:
    """A constant that was not recorded."""
    rows, columns = array.array.shape
    return workshop.new(tape, Instruction("constant", (), (rows, columns), array))


def part(workshop: Workshop, tape: Tape, value: int, window: tuple[int, int, int, int]) -> int:
    """A slice that was not recorded."""
    top, bottom, left, right = window
    return workshop.new(tape, Instruction("slice", (value,), (bottom - top, right - left), window))


class Turner:
    """Turns values of one shape by the same amount, again and again: its constants are made once."""

    def __init__(self, workshop: Workshop, tape: Tape, shape: tuple[int, int], turn: Turn):
        self.workshop, self.shape = workshop, shape
        by = [amount % size for amount, size in zip(turn, shape, strict=True)]
        self.left = known(workshop, tape, shift(shape[0], by[0])) if by[0] else None
        self.right = known(workshop, tape, Constant(shift(shape[1], by[1]).array.T.copy())) if by[1] else None

    def __call__(self, tape: Tape, value: int) -> int:
        """The turned value."""
        if self.left is not None:
            value = self.workshop.new(tape, Instruction("multiply", (self.left, value), self.shape))
        if self.right is not None:
            value = self.workshop.new(tape, Instruction("multiply", (value, self.right), self.shape))
        return value

    def give(self, tape: Tape, value: int, address: int, name: str | None) -> None:
        """The turned value, under a given address."""
        whole = (0, self.shape[0], 0, self.shape[1])
        turned = self(tape, value)
        tape.append((address, replace(Instruction("slice", (turned,), self.shape, whole), name=name)))
