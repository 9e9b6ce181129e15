"""Makers of matrices: constants, stacks, and matrices with a part replaced."""

from typing import Any

import numpy as np

from ._errors import ProgramError
from ._limits import check_shape
from ._matrix import Matrix, written
from ._parts import rectangle
from ._scalars import kind
from ._trace import active


def constant(rows: Any) -> Matrix:
    """A matrix written out in a program, as a list of rows or a NumPy array: `constant([[1, 2], [3, 4]])`.

    This and the other makers of matrices can only be called while a program is traced; `program` has an example.
    """
    lists = [row for row in rows if isinstance(row, (list, tuple))] if isinstance(rows, (list, tuple)) else []
    # Lists in lists in lists may hold one another many times: such a list is small, and its array is not.
    if any(isinstance(entry, (list, tuple)) for row in lists for entry in row):
        raise ProgramError("constant() of lists in lists in a list", "write constant([[1, 2], [3, 4]])")
    return written(active(), rows)


def eye(n: Any) -> Matrix:
    """The identity of n rows, in a program."""
    return constant(np.eye(_shape("eye", n, n)[0]))


def zeros(n: Any, d: Any) -> Matrix:
    """A matrix of zeros with n rows and d columns, in a program."""
    return constant(np.zeros(_shape("zeros", n, d)))


def ones(n: Any, d: Any) -> Matrix:
    """A matrix of ones with n rows and d columns, in a program."""
    return constant(np.ones(_shape("ones", n, d)))


def hstack(parts: Any) -> Matrix:
    """Matrices side by side, in a program: `hstack([A, B])`; they have the same rows."""
    return _stacked("hstack", parts, 1)


def vstack(parts: Any) -> Matrix:
    """Matrices one below the other, in a program: `vstack([A, B])`; they have the same columns."""
    return _stacked("vstack", parts, 0)


def place(matrix: Any, part: Any, top: Any, left: Any = 0) -> Matrix:
    """A matrix with a part of it replaced, in a program: `O = place(O, row, t)` writes the row numbered t.

    `top` and `left` say where the part's first row and column go. The text of a file may write `O[t] = row` for it.
    """
    if not isinstance(matrix, Matrix) or not isinstance(part, (Matrix, np.ndarray)):
        raise ProgramError("place() of something that is no matrix", "write O = place(O, row, t)")
    part = matrix.operand(part, "place")
    first, _, before, _ = rectangle((top, left), matrix.shape)
    return matrix.placed((slice(first, first + part.shape[0]), slice(before, before + part.shape[1])), part)


def _stacked(op: str, parts: Any, axis: int) -> Matrix:
    if not isinstance(parts, (list, tuple)) or not parts or not any(isinstance(part, Matrix) for part in parts):
        raise ProgramError(f"{op} of something that is no list of matrices", f"write {op}([A, B])")
    first = next(part for part in parts if isinstance(part, Matrix))
    matrices = [first.operand(part, op) for part in parts]
    other = 1 - axis
    for matrix in matrices:
        if matrix.shape[other] != matrices[0].shape[other]:
            raise ProgramError(
                f"{op} of {matrices[0].described()} and {matrix.described()}",
                f"all must have the same number of {('rows', 'columns')[other]}",
            )
    return first.stacked(op, matrices)


def _shape(function: str, *sizes: Any) -> tuple[int, int]:
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ProgramError(f"{function}() of the size {kind(size)}", "expected a whole number of at least 1")
    check_shape((int(sizes[0]), int(sizes[1])))
    return int(sizes[0]), int(sizes[1])
