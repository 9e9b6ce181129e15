"""The graph's values: every value is a sum of words, and a word is a product of atoms.

An atom is a constant matrix, or a reference to a node, as it is or transposed. Linear operations (sums, multiples,
transposes, slices, stacking, products with constants) only rewrite words; nothing has to be computed for them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..language import Constant, ProgramError
from ._bounds import made

Shape = tuple[int, int]


class Ref(NamedTuple):
    """A node, or its transpose. A tuple, because words are looked up all the time, and Python hashes tuples fast."""

    node: int
    transposed: bool = False


# A factor of a word: a value, or a matrix that is written out in the program.
Atom = Ref | Constant
# A product of factors, from left to right.
Word = tuple[Atom, ...]


@dataclass(frozen=True)
class Sum:
    """A sum of words with coefficients; no word twice, no coefficient zero, at most one word that is a constant."""

    shape: Shape
    words: Mapping[Word, float]

    @cached_property
    def key(self) -> tuple:
        """Equal for equal sums, whatever the order of their words; zeros of different shapes are different."""
        return self.shape, frozenset(self.words.items())

    @property
    def constant(self) -> np.ndarray | None:
        """The constant part, if there is one."""
        for word, factor in self.words.items():
            if is_constant(word):
                return factor * word[0].array  # type: ignore[union-attr]
        return None

    def without_constant(self) -> "Sum":
        """The other words."""
        return Sum(self.shape, {word: factor for word, factor in self.words.items() if not is_constant(word)})

    def single(self) -> Word | None:
        """The word, if the sum is one word with coefficient 1."""
        if len(self.words) == 1:
            ((word, factor),) = self.words.items()
            if factor == 1.0:
                return word
        return None


def is_constant(word: Word) -> bool:
    """Whether a word is a constant matrix alone."""
    return len(word) == 1 and isinstance(word[0], Constant)


def total(shape: Shape, parts: Iterable[tuple[Word, float]]) -> Sum:
    """Collect words: equal ones are added, zeros dropped, constants put together."""
    words: dict[Word, float] = {}
    constant: np.ndarray | None = None
    for word, factor in parts:
        if is_constant(word):
            made(*shape)
            array = factor * word[0].array  # type: ignore[union-attr]
            constant = array if constant is None else constant + array
        else:
            words[word] = words.get(word, 0.0) + factor
    _check_finite(list(words.values()))
    words = {word: factor for word, factor in words.items() if factor != 0.0}
    if constant is not None and constant.any():
        _check_finite(constant)
        words[(Constant(constant),)] = 1.0
    return Sum(shape, words)


def _check_finite(numbers: np.ndarray | list[float]) -> None:
    if not np.all(np.isfinite(numbers)):
        raise ProgramError("coefficients that multiply to a number that is not finite", "check the scalars")


def joined(left: Word, right: Word) -> tuple[Word, float] | None:
    """Two words one after the other, with a factor; None if the product is zero.

    Neighbouring constants are multiplied out, and multiples of the identity become the factor.
    """
    if not left or not right:
        return left + right, 1.0
    if not (isinstance(left[-1], Constant) and isinstance(right[0], Constant)):
        return left + right, 1.0
    one, two = left[-1].array, right[0].array
    made(one.shape[0], two.shape[1], two.shape[0])
    return _with_constant(left[:-1], one @ two, right[1:])


def _with_constant(left: Word, array: np.ndarray, right: Word) -> tuple[Word, float] | None:
    if not array.any():
        return None
    _check_finite(array)
    multiple = identity_multiple(array)
    if multiple is not None and (left or right):
        return left + right, multiple
    return (*left, Constant(array), *right), 1.0


def with_constants(left: np.ndarray | None, word: Word, right: np.ndarray | None) -> tuple[Word, float] | None:
    """A word between two constants."""
    factor = 1.0
    for array, on_left in ((left, True), (right, False)):
        if array is None:
            continue
        if not array.any():
            return None
        multiple = identity_multiple(array)
        if multiple is not None:
            factor *= multiple
            continue
        found = joined((Constant(array),), word) if on_left else joined(word, (Constant(array),))
        if found is None:
            return None
        word, more = found
        factor *= more
    return (word, factor) if factor != 0.0 else None


def identity_multiple(array: np.ndarray) -> float | None:
    """c if the array is c times the identity."""
    if array.shape[0] != array.shape[1]:
        return None
    value = float(array[0, 0])
    return value if np.array_equal(array, value * np.eye(array.shape[0])) else None
