"""Matrices of a program, by operator overloading: both front ends compute with these."""

import math
from numbers import Real
from typing import Any

import numpy as np

from ... import _memory
from ._errors import ProgramError
from ._instructions import Constant, Shape
from ._parts import rectangle
from ._trace import Trace, active

NO_INVERSE = "there is no division by a matrix; iterate Newton-Schulz, Z = 2 * Z - Z @ A @ Z, for the inverse of A"
NO_BRANCH = "values of matrices are not known when compiling; write both cases as one formula, or choose by a scalar"


class Matrix:
    """A value of a program under way: an address in the trace and a shape; `sizes` is the shape in the user's words."""

    # NumPy must not try to compute with this.
    __array_ufunc__ = None

    def __init__(self, trace: Trace, address: int, shape: Shape, sizes: tuple[str, str]):
        self.trace, self.address, self.shape, self.sizes = trace, address, shape, sizes

    @property
    def T(self) -> "Matrix":
        """The transpose."""
        rows, columns = self.shape
        return self._new("transpose", (self,), (columns, rows), sizes=(self.sizes[1], self.sizes[0]))

    def __add__(self, other: Any) -> "Matrix":
        return self._sum("add", self, other)

    def __radd__(self, other: Any) -> "Matrix":
        return self._sum("add", other, self)

    def __sub__(self, other: Any) -> "Matrix":
        return self._sum("subtract", self, other)

    def __rsub__(self, other: Any) -> "Matrix":
        return self._sum("subtract", other, self)

    def __neg__(self) -> "Matrix":
        return self._scaled(-1.0)

    def __pos__(self) -> "Matrix":
        return self

    def __matmul__(self, other: Any) -> "Matrix":
        return self._product(self, self._matrix(other, "@"))

    def __rmatmul__(self, other: Any) -> "Matrix":
        return self._product(self._matrix(other, "@"), self)

    def __mul__(self, other: Any) -> "Matrix":
        if isinstance(other, (Matrix, np.ndarray)):
            raise ProgramError(
                "* between two matrices is element-wise, which attention can't do", "write @ for the matrix product"
            )
        return self._scaled(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Matrix":
        if isinstance(other, (Matrix, np.ndarray)):
            raise ProgramError("division by a matrix", NO_INVERSE)
        if other == 0:
            raise ProgramError("division by zero")
        return self._scaled(1.0 / checked_number(other))

    def __rtruediv__(self, other: Any) -> Any:
        raise ProgramError("division by a matrix", NO_INVERSE)

    def __pow__(self, other: Any) -> Any:
        raise ProgramError("a power of a matrix", "write the product out, A @ A, or a loop")

    def __getitem__(self, key: Any) -> "Matrix":
        top, bottom, left, right = where = rectangle(key, self.shape)
        sizes = tuple(
            old if (first, last) == (0, full) else str(last - first)
            for old, first, last, full in zip(self.sizes, (top, left), (bottom, right), self.shape, strict=True)
        )
        return self._new("slice", (self,), (bottom - top, right - left), where, sizes=(sizes[0], sizes[1]))

    def __setitem__(self, key: Any, part: Any) -> None:
        # Another name may hold this very matrix, and must keep its value.
        raise ProgramError(
            "an assignment to a part of a matrix, in a decorated function",
            "matrices are values: write O = place(O, part, top, left), or the program as text",
        )

    def placed(self, key: Any, part: Any) -> "Matrix":
        """This matrix with another one, or a number, in the place of a part of it."""
        top, bottom, left, right = where = rectangle(key, self.shape)
        shape = (bottom - top, right - left)
        if isinstance(part, Real) and not isinstance(part, bool):
            part = np.full(shape, checked_number(part))
        part = self._matrix(part, "=")
        if part.shape != shape:
            raise ProgramError(
                f"{part.described()} in the place of {shape[0]} x {shape[1]}", "both must have the same shape"
            )
        return self._new("place", (self, part), self.shape, where, sizes=self.sizes)

    def _refuse_comparison(self, other: Any) -> Any:
        raise ProgramError("a comparison of matrices", NO_BRANCH)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ProgramError("a decision on a matrix", NO_BRANCH)

    def __iter__(self) -> Any:
        raise ProgramError("a matrix was unpacked or looped over", "take rows by their index, X[t]")

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise ProgramError(
            "a matrix of a program was handed to NumPy, whose functions attention can't compute",
            "use + - @ .T, slices, hstack and vstack; for an inverse iterate Newton-Schulz",
        )

    def __abs__(self) -> Any:
        raise ProgramError("an element-wise function of a matrix", "attention computes + - @ .T and scalar multiples")

    __float__ = __int__ = __round__ = __abs__

    def _matrix(self, other: Any, op: str) -> "Matrix":
        if isinstance(other, Matrix):
            if other.trace is not self.trace:
                raise ProgramError("a matrix of another program is used here", "pass it as a parameter")
            return other
        if isinstance(other, np.ndarray):
            return constant(other)
        advice = "write * for a scalar multiple" if op == "@" else "write c * eye(n) or c * ones(n, d)"
        raise ProgramError(f"{op} between a matrix and {_kind(other)}", advice)

    def _sum(self, op: str, left: Any, right: Any) -> "Matrix":
        sign = {"add": "+", "subtract": "-"}[op]
        left, right = self._matrix(left, sign), self._matrix(right, sign)
        if left.shape != right.shape:
            raise ProgramError(
                f"{sign} between {left.described()} and {right.described()}", "both must have the same shape"
            )
        return self._new(op, (left, right), left.shape, sizes=left.sizes)

    def _product(self, left: "Matrix", right: "Matrix") -> "Matrix":
        if left.shape[1] != right.shape[0]:
            raise ProgramError(
                f"@ between {left.described()} and {right.described()}",
                "the columns of the left one must be the rows of the right one; is a .T missing?",
            )
        sizes = (left.sizes[0], right.sizes[1])
        return self._new("multiply", (left, right), (left.shape[0], right.shape[1]), sizes=sizes)

    def _scaled(self, factor: Any) -> "Matrix":
        return self._new("scale", (self,), self.shape, checked_number(factor), sizes=self.sizes)

    def _new(self, op: str, operands: tuple, shape: Shape, attribute: Any = None, *, sizes) -> "Matrix":
        address = self.trace.add(op, tuple(each.address for each in operands), shape, attribute)
        return Matrix(self.trace, address, shape, sizes)

    def described(self) -> str:
        """The shape in words, with the user's own letters."""
        words = [
            size if size == str(number) else f"{size} = {number}"
            for size, number in zip(self.sizes, self.shape, strict=True)
        ]
        return f"a matrix of {' x '.join(words)}"


def checked_number(value: Any) -> float:
    """A scalar known when compiling."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ProgramError(f"a multiple by {_kind(value)}", "expected a number known when compiling")
    if not math.isfinite(value):
        raise ProgramError(f"the number {value} is not finite", "check the scalars it is computed from")
    return float(value)


def constant(rows: Any) -> Matrix:
    """A matrix written out in a program, as a list of rows or a NumPy array: `constant([[1, 2], [3, 4]])`.

    This and the other makers of matrices can only be called while a program is traced; `program` has an example.
    """
    try:
        array = np.array(rows, dtype=float)
    except (TypeError, ValueError, ProgramError):
        raise ProgramError(
            "constant() of something that is no matrix of numbers", "write constant([[1, 2], [3, 4]])"
        ) from None
    if array.ndim != 2 or 0 in array.shape:
        raise ProgramError(
            f"constant() of an array of shape {array.shape}", "expected rows and columns, at least one of each"
        )
    if not np.all(np.isfinite(array)):
        raise ProgramError("constant() with NaN or infinity", "expected finite numbers")
    trace = active()
    shape = (array.shape[0], array.shape[1])
    return Matrix(trace, trace.add("constant", (), shape, Constant(array)), shape, (str(shape[0]), str(shape[1])))


def eye(n: Any) -> Matrix:
    """The identity of n rows, in a program."""
    rows = _size("eye", n)
    _memory.need(f"an identity of {rows} rows", 4 * rows * rows, "it")
    return constant(np.eye(rows))


def zeros(n: Any, d: Any) -> Matrix:
    """A matrix of zeros with n rows and d columns, in a program."""
    return constant(np.zeros((_size("zeros", n), _size("zeros", d))))


def ones(n: Any, d: Any) -> Matrix:
    """A matrix of ones with n rows and d columns, in a program."""
    return constant(np.ones((_size("ones", n), _size("ones", d))))


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
    part = matrix._matrix(part, "place")
    first, _, before, _ = rectangle((top, left), matrix.shape)
    return matrix.placed((slice(first, first + part.shape[0]), slice(before, before + part.shape[1])), part)


def _stacked(op: str, parts: Any, axis: int) -> Matrix:
    if not isinstance(parts, (list, tuple)) or not parts or not any(isinstance(part, Matrix) for part in parts):
        raise ProgramError(f"{op} of something that is no list of matrices", f"write {op}([A, B])")
    first = next(part for part in parts if isinstance(part, Matrix))
    matrices = [first._matrix(part, op) for part in parts]
    other = 1 - axis
    for matrix in matrices:
        if matrix.shape[other] != matrices[0].shape[other]:
            raise ProgramError(
                f"{op} of {matrices[0].described()} and {matrix.described()}",
                f"all must have the same number of {('rows', 'columns')[other]}",
            )
    total = sum(matrix.shape[axis] for matrix in matrices)
    shape = (total, first.shape[1]) if axis == 0 else (first.shape[0], total)
    sizes = (str(total), first.sizes[1]) if axis == 0 else (first.sizes[0], str(total))
    return first._new(op, tuple(matrices), shape, sizes=sizes)


def _size(function: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ProgramError(f"{function}() of the size {_kind(value)}", "expected a whole number of at least 1")
    return int(value)


def _kind(value: Any) -> str:
    if isinstance(value, (bool, int, float, str)):
        return repr(value)
    return f"a {type(value).__name__}"
