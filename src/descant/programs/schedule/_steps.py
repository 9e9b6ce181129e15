"""The schedule's steps: blocks and heads that speak of named places in H, not yet of columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

Shape = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """A named rectangle of H that holds one value at a time, from the first row down."""

    number: int
    name: str
    shape: Shape


@dataclass(frozen=True)
class Reading:
    """A factor of a head, as H gives it: a sum of places, each times a constant on its right, plus a constant."""

    shape: Shape
    terms: tuple[tuple[int, np.ndarray], ...] = ()
    constant: np.ndarray | None = None

    @classmethod
    def of_constant(cls, array: np.ndarray) -> "Reading":
        """No place at all."""
        return cls((array.shape[0], array.shape[1]), (), array)

    def __add__(self, other: "Reading") -> "Reading":
        terms = dict(self.terms)
        for place, right in other.terms:
            terms[place] = terms[place] + right if place in terms else right
        parts = [each for each in (self.constant, other.constant) if each is not None]
        return Reading(self.shape, tuple(sorted(terms.items())), sum(parts[1:], parts[0]) if parts else None)

    def times(self, right: np.ndarray | float) -> "Reading":
        """Times a constant on the right."""
        if not isinstance(right, np.ndarray):
            right = right * np.eye(self.shape[1])
        # What is left out entirely is not read, and need not be kept for it.
        products = ((place, each @ right) for place, each in self.terms)
        terms = tuple((place, each) for place, each in products if each.any())
        constant = None if self.constant is None else self.constant @ right
        return Reading((self.shape[0], right.shape[1]), terms, constant)

    @property
    def is_constant(self) -> bool:
        """Whether it reads nothing."""
        return not self.terms

    @property
    def columns(self) -> np.ndarray:
        """Which of its columns may hold something else than zeros."""
        arrays = [each for _, each in self.terms] + ([] if self.constant is None else [self.constant])
        return np.any([each.any(axis=0) for each in arrays], axis=0) if arrays else np.zeros(self.shape[1], bool)

    @property
    def places(self) -> set[int]:
        """The places it reads."""
        return {place for place, _ in self.terms}


@dataclass(frozen=True)
class Write:
    """What is added to a place."""

    place: int
    reading: Reading


@dataclass(frozen=True)
class Head:
    """query key^T value, added to the places that the values are written to."""

    query: Reading
    key: Reading
    values: tuple[Write, ...]

    @property
    def slots(self) -> int:
        """The length of the sum over columns of query and key."""
        return self.query.shape[1]

    @property
    def reads(self) -> set[int]:
        """All places that it reads."""
        return self.query.places | self.key.places | set().union(*(w.reading.places for w in self.values))


@dataclass(frozen=True)
class Block:
    """Heads, and what the head that carries does: H times a constant, plus a constant.

    `kept` are places that stay as they are, `writes` those that get a new value; the rest of H is cleared.
    """

    heads: tuple[Head, ...]
    carry: tuple[Write, ...]
    writes: tuple[int, ...]
    kept: tuple[int, ...] = ()

    @property
    def reads(self) -> set[int]:
        """All places that it reads, but for those it keeps."""
        found = set().union(*(head.reads for head in self.heads)) if self.heads else set()
        return found.union(*(write.reading.places for write in self.carry))


@dataclass(frozen=True)
class Loop:
    """Steps that are run `count` times. `alive` are the places that hold values at both ends of the body.

    `copies` are pairs of places that hold the same carried value, as it is and transposed.
    """

    count: int
    body: tuple["Block | Loop", ...]
    alive: tuple[int, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()


# What a schedule is a row of: one block, or blocks that are repeated.
Step = Block | Loop


@dataclass(frozen=True)
class Schedule:
    """A program as steps on places.

    `values` are places of values that are no mere products, `copies` pairs of places of which the first holds the
    second's value, transposed; both as far as they are known.
    """

    places: tuple[Place, ...]
    inputs: dict[str, int]
    outputs: tuple[tuple[str, int], ...]
    steps: tuple[Step, ...]
    values: tuple[int, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()

    def blocks(self) -> Iterator[Block]:
        """Every block once, in order."""
        return _blocks(self.steps)

    @property
    def alive_first(self) -> set[int]:
        """The places that must hold their values before the first block."""
        first = self.steps[0]
        return set(first.kept) | first.reads if isinstance(first, Block) else set(first.alive)

    def flat(self) -> "Schedule":
        """With loops that are run once written as their steps."""
        return replace(self, steps=_flat(self.steps))


def _flat(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Block):
            found.append(step)
        else:
            body = _flat(step.body)
            found += body if step.count == 1 else [replace(step, body=body)]
    return tuple(found)


def _blocks(steps: tuple[Step, ...]) -> Iterator[Block]:
    for step in steps:
        if isinstance(step, Block):
            yield step
        else:
            yield from _blocks(step.body)
