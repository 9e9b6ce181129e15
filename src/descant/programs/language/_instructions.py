"""The language's instructions: straight-line code on matrices of known shape, with repeats.

An instruction names its operands by their addresses: where they stand in the list. Front ends record such a list;
`evaluate` interprets it; the graph is built from it.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ._errors import Position

Shape = tuple[int, int]


@dataclass(frozen=True)
class Constant:
    """A matrix known when compiling, compared by value."""

    array: np.ndarray

    @cached_property
    def _key(self) -> tuple[Shape, bytes]:
        return (self.array.shape[0], self.array.shape[1]), self.array.tobytes()

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Constant) and self._key == other._key)


@dataclass(frozen=True)
class Instruction:
    """One operation.

    `op` and `attribute` are: input (its name), constant (a `Constant`), add, subtract, multiply, transpose, scale (the
    number), hstack, vstack, slice (first and last row, first and last column, ends excluded), place (the same four: the
    first operand with the second in that rectangle), parameter (which one; in the body of a repeat), repeat (a
    `Repeat`), result (which one, of a repeat).
    """

    op: str
    operands: tuple[int, ...]
    shape: Shape
    attribute: Any = None
    name: str | None = field(default=None, compare=False)
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Body:
    """Instructions in order, and which of them are the results."""

    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class Repeat:
    """A body that is run `count` times. Its parameters are the carried values, then values from outside.

    The repeat's operands are in the same order: the carried values' starts, then the values from outside. The body's
    results are the carried values after one run.
    """

    count: int
    carried: int
    body: Body
    names: tuple[str, ...] = field(default=(), compare=False)


# How much more it takes to plan a slice than another operation: it becomes a value of its own that has to be kept.
SLICE = 40


def effort(body: Body) -> int:
    """About how long it takes to plan a program, in operations; those of repeats count once."""
    found = 0
    for each in body.instructions:
        if each.op == "repeat":
            found += effort(each.attribute.body)
        else:
            whole = each.op == "slice" and each.attribute == (0, each.shape[0], 0, each.shape[1])
            found += SLICE if each.op in ("slice", "place") and not whole else 1
    return found
