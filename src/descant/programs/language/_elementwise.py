"""Functions of single numbers of matrices: `hadamard`, `diag`, `trace`, `sum` and `mean`."""

import builtins
import operator
from functools import reduce
from typing import Any

import numpy as np

from ._errors import ProgramError
from ._matrix import Matrix
from ._products import check_diagonal, elementwise, on_diagonal


def hadamard(left: Any, right: Any) -> Matrix:
    """The element-wise product of two matrices of the same shape, in a program; `A * B` is the same."""
    matrix = left if isinstance(left, Matrix) else _matrix("hadamard", right)
    left, right = matrix.operand(left, "hadamard"), matrix.operand(right, "hadamard")
    if left.shape != right.shape:
        raise ProgramError(f"hadamard() of {left.described()} and {right.described()}", "both must have one shape")
    return left @ right if left.shape == (1, 1) else elementwise(left, right)


def diag(values: Any) -> Matrix:
    """The diagonal matrix of a column or a row, or the diagonal of a square matrix as a column, in a program."""
    matrix = _matrix("diag", values)
    rows, columns = matrix.shape
    if rows == columns:
        check_diagonal(rows)
        return matrix.stacked("vstack", [matrix[index, index] for index in range(rows)]) if rows > 1 else matrix
    if rows > 1 and columns > 1:
        raise ProgramError(f"diag() of {matrix.described()}", "expected a column, a row, or a square matrix")
    check_diagonal(max(rows, columns))
    return on_diagonal([matrix[row, column] for row in range(rows) for column in range(columns)])


def trace(values: Any) -> Matrix:
    """The sum of a square matrix's diagonal, a 1 x 1 value, in a program."""
    matrix = _matrix("trace", values)
    if matrix.shape[0] != matrix.shape[1]:
        raise ProgramError(f"trace() of {matrix.described()}", "expected a square matrix")
    return sum(diag(matrix))


def sum(values: Any, axis: Any = None) -> Any:
    """The sum of a matrix's numbers, 1 x 1, in a program; of each column (`axis` 0, a row), or of each row (1).

    Of a list of matrices their sum; of anything else what Python's own `sum` says.
    """
    if not isinstance(values, Matrix):
        return _python_sum(values, 0 if axis is None else axis)
    rows, columns = values.shape
    _check_axis("sum", axis)
    if axis != 1 and rows > 1:
        values = values.constant(np.ones((1, rows))) @ values
    if axis != 0 and columns > 1:
        values = values @ values.constant(np.ones((columns, 1)))
    return values


def _python_sum(values: Any, start: Any) -> Any:
    begun = isinstance(start, Matrix)
    if isinstance(values, (list, tuple)) and (begun or any(isinstance(each, Matrix) for each in values)):
        return reduce(operator.add, values if not begun and start == 0 else [start, *values])
    try:
        return builtins.sum(values, start)
    except TypeError:
        if not isinstance(values, (list, tuple, int, float)):
            raise
        raise ProgramError("sum() of something that is no matrix", "write sum(A), or sum([A, B])") from None


def mean(values: Any, axis: Any = None) -> Matrix:
    """The mean of a matrix's numbers, 1 x 1, in a program; of each column (`axis` 0, a row), or of each row (1)."""
    matrix = _matrix("mean", values)
    _check_axis("mean", axis)
    rows, columns = matrix.shape
    return sum(matrix, axis) / {None: rows * columns, 0: rows, 1: columns}[axis]


def _check_axis(name: str, axis: Any) -> None:
    if axis is not None and (isinstance(axis, (bool, float, Matrix, list)) or axis not in (0, 1)):
        raise ProgramError(f"{name}() along an axis other than 0 and 1", "0 is down the columns, 1 along the rows")


def _matrix(name: str, value: Any) -> Matrix:
    if not isinstance(value, Matrix):
        raise ProgramError(f"{name}() of something that is no matrix", f"write {name}(A)")
    return value
