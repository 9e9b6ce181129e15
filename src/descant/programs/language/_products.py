"""Element-wise products as matrix products: attention multiplies matrices, so numbers are put on diagonals.

Slices, stacks and products with constants cost nothing; each number that is put on a diagonal takes a head.
"""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ProgramError
from ._limits import LONGEST_DIAGONAL, MANY_PRODUCTS, MOST_IN_ALL, MOST_PRODUCTS, MOST_ROWS
from ._scalars import kind

if TYPE_CHECKING:
    from ._matrix import Matrix

LARGEST_EXPONENT = 16


def times(left: "Matrix", right: "Matrix") -> "Matrix":
    """`left * right`: one of them 1 x 1, or both of the same shape."""
    if left.shape == (1, 1):
        return _multiple(right, left)
    if right.shape == (1, 1):
        return _multiple(left, right)
    if left.shape != right.shape:
        vector = 1 in (*left.shape, *right.shape)
        advice = "diag(v) @ A is a multiple of each row, A @ diag(v) of each column" if vector else "is it @?"
        raise ProgramError(f"* between {left.described()} and {right.described()}", f"shapes must agree; {advice}")
    return elementwise(left, right)


def _multiple(matrix: "Matrix", number: "Matrix") -> "Matrix":
    """A 1 x 1 value times a matrix."""
    rows, columns = matrix.shape
    if columns == 1:
        return matrix @ number
    if rows == 1:
        return number @ matrix
    if rows <= columns:
        return on_diagonal([number] * rows) @ matrix
    return matrix @ on_diagonal([number] * columns)


def elementwise(left: "Matrix", right: "Matrix") -> "Matrix":
    """Two matrices of the same shape, row by row: a row of the one times the diagonal matrix of the other's."""
    rows, columns = left.shape
    for mask, matrix in ((left.known, right), (right.known, left)):
        if mask is not None:
            return _masked(mask, matrix)
    if columns > rows:
        return elementwise(left.T, right.T).T
    if rows * columns > MOST_PRODUCTS or rows > MOST_ROWS:
        raise ProgramError(
            f"an element-wise product of {left.described()} takes {rows * columns} products of numbers in {rows} rows",
            f"lower the sizes; at most {MOST_PRODUCTS} in {MOST_ROWS} can be compiled",
        )
    if rows * columns > MANY_PRODUCTS:
        left.trace.spent["products"] += rows * columns
    if left.trace.spent["products"] > MOST_IN_ALL:
        raise ProgramError(
            f"element-wise products of more than {MOST_IN_ALL} numbers in all", "lower the sizes, or their number"
        )
    values = {"product": left.constant(np.zeros(left.shape))}
    for row in left.trace.loop(range(rows), lambda: {name: value.address for name, value in values.items()}):
        numbers = [right[row, column] for column in range(columns)]
        values["product"] = values["product"].placed(row, left[row] @ on_diagonal(numbers))
    return values["product"]


def _masked(mask: np.ndarray, matrix: "Matrix") -> "Matrix":
    """A known matrix times another one, element by element, which is linear."""
    if mask.shape[0] > mask.shape[1]:
        return _masked(mask.T, matrix.T).T
    rows = [matrix[row] @ matrix.constant(np.diag(mask[row])) for row in range(mask.shape[0])]
    return matrix.stacked("vstack", rows)


def power(matrix: "Matrix", exponent: Any) -> "Matrix":
    """`A ** k` element by element, as in NumPy, for small whole k."""
    if (
        isinstance(exponent, bool)
        or not isinstance(exponent, (int, np.integer))
        or not 0 <= exponent <= LARGEST_EXPONENT
    ):
        number = kind(exponent) if isinstance(exponent, Real) else "that is no number"
        roots = "; for 1 / sqrt(s) there is rsqrt, for 1 / s reciprocal" if matrix.shape == (1, 1) else ""
        raise ProgramError(
            f"a power of a matrix with an exponent {number}",
            f"A ** k is element-wise, as in NumPy, for whole k from 0 to {LARGEST_EXPONENT}{roots}",
        )
    if exponent == 0:
        return matrix.constant(np.ones(matrix.shape))
    if exponent == 1:
        return matrix
    half = power(matrix, int(exponent) // 2)
    square = times(half, half)
    return times(square, matrix) if exponent % 2 else square


def on_diagonal(numbers: "list[Matrix]") -> "Matrix":
    """1 x 1 values as a diagonal matrix."""
    length, first = len(numbers), numbers[0]
    check_diagonal(length)
    if length == 1:
        return first
    columns = [first.constant(unit[:, None]) @ number for unit, number in zip(np.eye(length), numbers, strict=True)]
    return first.stacked("hstack", columns)


def check_diagonal(length: int) -> None:
    """Refuse a diagonal of more numbers than can be heads of a block."""
    if length > LONGEST_DIAGONAL:
        raise ProgramError(
            f"a diagonal of {length} numbers, each of which takes a head",
            f"lower the sizes; at most {LONGEST_DIAGONAL} can be compiled",
        )
