"""How many blocks a program needs at least, whoever builds it: by the degree of what it computes.

**Proof.** Entries of H before the first block are inputs, or constants. A block maps H to a sum of products
(H W₃ + B₃)(H W₁ + B₁)ᵀ(H W₂ + B₂), so each entry after it is a polynomial of degree three, at the most, in the entries
before it. By induction the entries after k blocks are polynomials of degree 3^k, at the most, in the inputs. So an
output whose degree in the inputs is D takes k ≥ log₃ D blocks.

**The degree of a program.** All inputs are multiplied by one unknown s; each value becomes a polynomial in s. Of each
entry a bound of its degree is known, and the coefficient at that power, for inputs that are random whole numbers,
modulo a prime: sums and products of entries say what both become. A coefficient that is not zero modulo the prime is
not zero, so the bound is then the degree, and the degree in all inputs is no less. Where the coefficient is zero, terms
may have cancelled, and nothing is said of that entry.
"""

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from ..language import Interpreter, Traced

PRIME = 2**61 - 1


@dataclass(frozen=True)
class Term:
    """A polynomial in s: no power above `degree`, and the coefficient there, modulo the prime. Zero has degree -1."""

    degree: int
    coefficient: int

    def __add__(self, other: "Term") -> "Term":
        if self.degree != other.degree:
            return self if self.degree > other.degree else other
        return Term(self.degree, (self.coefficient + other.coefficient) % PRIME)

    def __sub__(self, other: "Term") -> "Term":
        return self + Term(other.degree, -other.coefficient % PRIME)

    def __mul__(self, other: "Term") -> "Term":
        if min(self.degree, other.degree) < 0:
            return ZERO
        return Term(self.degree + other.degree, self.coefficient * other.coefficient % PRIME)


ZERO = Term(-1, 0)


def least_blocks(traced: Traced) -> int:
    """The number of blocks below which no network computes a program.

    >>> from descant.programs import find
    >>> least_blocks(find("ridge").trace(n=4, d=2, T=13))  # of degree 27
    3
    """
    degree, blocks = degree_of(traced), 1
    while 3**blocks < degree:
        blocks += 1
    return blocks


def degree_of(traced: Traced, seed: int = 0) -> int:
    """The degree of a program's outputs in its inputs, or a number below it where terms may have cancelled.

    >>> from descant.programs import Program
    >>> degree_of(Program.from_text('def p(A: "n n"):\\n    return A @ A @ A - A @ A').trace(n=2))
    3
    """
    random = Random(seed)
    inputs = {each.name: _array(each.shape, lambda: Term(1, random.randrange(1, PRIME))) for each in traced.inputs}
    outputs = Interpreter(inputs, _constant, lambda number, value: value * _number(number)).run(traced.body)
    return max((term.degree for each in outputs for term in each.flat if term.coefficient), default=0)


def _array(shape: tuple[int, int], make) -> np.ndarray:
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        found[place] = make()
    return found


def _number(value: float) -> Term:
    """A number of the program: float64 has whole numbers divided by powers of two, whose inverses the prime has."""
    exact = Fraction(float(value))
    if not exact:
        return ZERO
    return Term(0, exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME)


def _constant(array: np.ndarray) -> np.ndarray:
    numbers = iter(array.flat)
    return _array((array.shape[0], array.shape[1]), lambda: _number(next(numbers)))
