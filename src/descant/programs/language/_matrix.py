"""Matrices of a program, by operator overloading: both front ends compute with these."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ._errors import ProgramError
from ._instructions import Constant, Shape
from ._limits import check_shape, write_down
from ._parts import Rectangle, rectangle
from ._products import power, times
from ._scalars import checked_number, kind
from ._trace import Trace

NO_INVERSE = "there is no division by a matrix; iterate Newton-Schulz, Z = 2 * Z - Z @ A @ Z, for the inverse of A"
NO_DIVISION = "for a 1 x 1 value s multiply by reciprocal(s, steps, start), Newton's iteration for 1 / s"
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
        return self._product(self, self.operand(other, "@"))

    def __rmatmul__(self, other: Any) -> "Matrix":
        return self._product(self.operand(other, "@"), self)

    def __mul__(self, other: Any) -> "Matrix":
        if isinstance(other, (Matrix, np.ndarray)):
            return times(self, self.operand(other, "*"))
        return self._scaled(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Matrix":
        if isinstance(other, (Matrix, np.ndarray)):
            one = other.shape == (1, 1)
            raise ProgramError("division by a matrix", NO_DIVISION if one else NO_INVERSE)
        if other == 0:
            raise ProgramError("division by zero")
        return self._scaled(1.0 / checked_number(other))

    def __rtruediv__(self, other: Any) -> Any:
        raise ProgramError("division by a matrix", NO_DIVISION if self.shape == (1, 1) else NO_INVERSE)

    def __pow__(self, other: Any) -> "Matrix":
        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        raise ProgramError("a power with a matrix as exponent", "expand it as a series in a loop")

    def __getitem__(self, key: Any) -> "Matrix":
        top, bottom, left, right = where = rectangle(key, self.shape)
        self._select(where)
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
        part = self.operand(part, "=")
        if part.shape != shape:
            raise ProgramError(
                f"{part.described()} in the place of {shape[0]} x {shape[1]}", "both must have the same shape"
            )
        self._select(where)
        # What is left of the others is taken by a square matrix.
        for size, full in zip(shape, self.shape, strict=True):
            if size < full:
                check_shape((full, full))
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

    def operand(self, other: Any, op: str) -> "Matrix":
        """Another operand of an operation: a matrix of the same program, or a NumPy array."""
        if isinstance(other, Matrix):
            if other.trace is not self.trace:
                raise ProgramError("a matrix of another program is used here", "pass it as a parameter")
            return other
        if isinstance(other, np.ndarray):
            return self.constant(other)
        advice = "write * for a scalar multiple" if op == "@" else "write c * eye(n) or c * ones(n, d)"
        raise ProgramError(f"{op} between a matrix and {kind(other)}", advice)

    def _select(self, where: Rectangle) -> None:
        """Count the constants that take a rectangle out of this matrix."""
        top, bottom, left, right = where
        for part, full in ((bottom - top, self.shape[0]), (right - left, self.shape[1])):
            if part < full:
                write_down(self.trace, part, full, "parts")

    def _sum(self, op: str, left: Any, right: Any) -> "Matrix":
        sign = {"add": "+", "subtract": "-"}[op]
        left, right = self.operand(left, sign), self.operand(right, sign)
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

    def constant(self, array: np.ndarray) -> "Matrix":
        """A matrix known when compiling, in the same program."""
        return written(self.trace, array)

    @property
    def known(self) -> np.ndarray | None:
        """The numbers of a matrix that is written out in the program."""
        instruction = self.trace.instructions[self.address]
        return instruction.attribute.array if instruction.op == "constant" else None

    def stacked(self, op: str, matrices: "Sequence[Matrix]") -> "Matrix":
        """Matrices side by side ("hstack") or one below the other ("vstack"), whose other sides agree."""
        axis = int(op == "hstack")
        total = sum(matrix.shape[axis] for matrix in matrices)
        for matrix in matrices:
            write_down(self.trace, matrix.shape[axis], total, "parts")
        (rows, columns), (down, across) = matrices[0].shape, matrices[0].sizes
        shape, sizes = ((rows, total), (down, str(total))) if axis else ((total, columns), (str(total), across))
        return self._new(op, tuple(matrices), shape, sizes=sizes)

    def _new(self, op: str, operands: tuple, shape: Shape, attribute: Any = None, *, sizes) -> "Matrix":
        check_shape(shape)
        address = self.trace.add(op, tuple(each.address for each in operands), shape, attribute)
        return Matrix(self.trace, address, shape, sizes)

    def described(self) -> str:
        """The shape in words, with the user's own letters."""
        words = [
            size if size == str(number) else f"{size} = {number}"
            for size, number in zip(self.sizes, self.shape, strict=True)
        ]
        return f"a matrix of {' x '.join(words)}"


def written(trace: Trace, rows: Any) -> Matrix:
    """A matrix known when compiling."""
    try:
        array = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError, ProgramError):
        raise ProgramError(
            "a constant of something that is no matrix of numbers", "write constant([[1, 2], [3, 4]])"
        ) from None
    if array.ndim != 2 or 0 in array.shape:
        raise ProgramError(f"a constant of shape {array.shape}", "expected rows and columns, at least one of each")
    if not np.all(np.isfinite(array)):
        raise ProgramError("a constant with NaN or infinity", "expected finite numbers")
    shape = (array.shape[0], array.shape[1])
    write_down(trace, *shape)
    return Matrix(trace, trace.add("constant", (), shape, Constant(array)), shape, (str(shape[0]), str(shape[1])))
