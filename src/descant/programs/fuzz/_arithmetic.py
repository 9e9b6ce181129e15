"""What a program's text means, by NumPy alone, and how far rounding may carry it: the judge's own arithmetic.

Every value is a stack of matrices in NumPy's long double. The first of them is the answer. The others are shaken: after
every operation each entry is moved by up to half a unit in the last place of float64, or by a multiple of it, of the
*sum of magnitudes* that made it (|A| |B| for a product, |a| + |b| for a sum). So they go where float64 could have gone,
whatever order and bracketing it had used; how far they spread says how much of an answer is left. Whoever allows for a
multiple of rounding shakes by that multiple: the fourth power of X - X moves with the fourth power of it, and no
multiple of its spread says so. The magnitudes are those of each run, not of the first one: long double rounds too, and
where X - (V + X) is zero for it because V is lost beside X, only those that went elsewhere still know that float64
would not have agreed. Half of them are shaken anew each time, half in the same way each time, because rounding may push
in one direction through all iterations of a loop.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# Half a unit in the last place of float64, relative to the number.
UNIT = 2.0**-53
# A network rounds more often than its text: it may go as far as if float64 rounded so many times as much.
MULTIPLE = 50.0
SHAKEN = 6
POOL = 1 << 14
Stack = np.ndarray
# What an assignment to a part of a matrix is executed as.
PLACE = "_placed"


class Arithmetic:
    """Matrices that are shaken from one seed, and the largest magnitude that any of them had."""

    def __init__(self, seed: int = 0, multiple: float = MULTIPLE):
        random = np.random.default_rng(seed)
        self._shake = multiple * UNIT
        self.largest = 0.0
        self._pool = random.uniform(-1, 1, POOL).astype(np.longdouble)
        self._at = 0
        self._fixed: dict[tuple[int, ...], Stack] = {}

    def names(self) -> dict[str, Any]:
        """What a program's text may call."""
        return {
            "eye": lambda n: self.matrix(np.eye(n)),
            "zeros": lambda n, d: self.matrix(np.zeros((n, d))),
            "ones": lambda n, d: self.matrix(np.ones((n, d))),
            "constant": lambda rows: self.matrix(np.array(rows, dtype=float)),
            "hstack": lambda parts: self._stacked(parts, 2),
            "vstack": lambda parts: self._stacked(parts, 1),
            "hadamard": lambda left, right: left * right,
            "diag": lambda value: value.diagonal(),
            "trace": lambda value: value.diagonal().total(None),
            "sum": lambda value, axis=None: value.total(axis),
            "mean": lambda value, axis=None: value.total(axis) / value.count(axis),
            "reciprocal": self._reciprocal,
            "rsqrt": self._rsqrt,
            PLACE: lambda value, part, key: value.placed(part, key),
            **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "pi")},
        }

    def matrix(self, array: np.ndarray) -> "Value":
        """A matrix that is known exactly."""
        return self.noted(np.asarray(array, dtype=np.longdouble)[None])

    def noted(self, stack: Stack) -> "Value":
        """A value as it is."""
        largest = float(np.abs(stack[0]).max())
        # NaN counts as more than everything, from then on.
        self.largest = max(self.largest, largest if largest == largest else math.inf)
        return Value(self, stack)

    def rounded(self, exact: Stack, magnitude: Stack) -> "Value":
        """A value that float64 would have rounded."""
        return self.noted(exact + self._shake * magnitude * self._noise(exact.shape[1:]))

    def _noise(self, shape: tuple[int, ...]) -> Stack:
        half = SHAKEN // 2
        fixed = self._fixed.get(shape)
        if fixed is None:
            fixed = self._fixed[shape] = self._drawn((half, *shape))
        still = np.zeros((1, *shape), dtype=np.longdouble)
        return np.concatenate([still, fixed, self._drawn((SHAKEN - half, *shape))])

    def _drawn(self, shape: tuple[int, ...]) -> Stack:
        count = math.prod(shape)
        if self._at + count > POOL:
            # Starts elsewhere the next time round, so that the same noise does not meet the same operation again.
            self._at = (self._at * 31 + 17) % 1009
        found = self._pool[self._at : self._at + count].reshape(shape)
        self._at += count
        return found

    def _reciprocal(self, s: "Value", steps: int, start: float) -> "Value":
        g = start * self.matrix(np.eye(1))
        for _ in range(steps):
            g = 2 * g - g * s * g
        return g

    def _rsqrt(self, s: "Value", steps: int, start: float) -> "Value":
        g = start * self.matrix(np.eye(1))
        for _ in range(steps):
            g = g * (self.matrix(3 * np.eye(1)) - s * g * g) / 2
        return g

    def _stacked(self, parts: "Sequence[Value]", axis: int) -> "Value":
        stacks = [np.broadcast_to(part.stack, (SHAKEN + 1, *part.stack.shape[1:])) for part in parts]
        return self.noted(np.concatenate(stacks, axis))


def _slices(key: Any) -> tuple[slice, slice]:
    """Rows and columns of a key; a single index is a slice of one, because parts of matrices are matrices."""
    parts = key if isinstance(key, tuple) else (key, slice(None))
    rows, columns = (part if isinstance(part, slice) else slice(part, part + 1 or None) for part in parts)
    return rows, columns


class Value:
    """A matrix of a program under way. Values never change: `+=` makes a new one, as in the language."""

    __array_ufunc__ = None

    def __init__(self, arithmetic: Arithmetic, stack: Stack):
        self.arithmetic, self.stack = arithmetic, stack

    @property
    def exact(self) -> np.ndarray:
        """The answer."""
        return self.stack[0]

    @property
    def spread(self) -> float:
        """How far the shaken ones are from it, at the most, over all entries."""
        return float(np.abs(self.stack - self.stack[:1]).max())

    @property
    def T(self) -> "Value":
        """The transpose."""
        return Value(self.arithmetic, self.stack.swapaxes(1, 2))

    def __matmul__(self, other: "Value") -> "Value":
        return self._rounded(self.stack @ other.stack, np.abs(self.stack) @ np.abs(other.stack))

    def __add__(self, other: "Value") -> "Value":
        return self._rounded(self.stack + other.stack, np.abs(self.stack) + np.abs(other.stack))

    def __sub__(self, other: "Value") -> "Value":
        return self._rounded(self.stack - other.stack, np.abs(self.stack) + np.abs(other.stack))

    def __mul__(self, other: "Value | float") -> "Value":
        """A multiple, by a number or a value of one entry, or the product element by element."""
        found = self.stack * (other.stack if isinstance(other, Value) else np.longdouble(other))
        return self._rounded(found, np.abs(found))

    __rmul__ = __mul__

    def __truediv__(self, number: float) -> "Value":
        found = self.stack / np.longdouble(number)
        return self._rounded(found, np.abs(found))

    def __neg__(self) -> "Value":
        return Value(self.arithmetic, -self.stack)

    def __pos__(self) -> "Value":
        return self

    def __pow__(self, power: int) -> "Value":
        return math.prod([self] * (power - 1), start=self)

    def __getitem__(self, key: Any) -> "Value":
        return Value(self.arithmetic, self.stack[:, *_slices(key)])

    def placed(self, part: "Value", key: Any) -> "Value":
        """With a part replaced."""
        found = np.array(np.broadcast_to(self.stack, (SHAKEN + 1, *self.stack.shape[1:])))
        found[:, *_slices(key)] = part.stack
        return self.arithmetic.noted(found)

    def diagonal(self) -> "Value":
        """The diagonal of a square matrix as a column; the diagonal matrix of a column or a row."""
        _, rows, columns = self.stack.shape
        if rows == columns:
            return Value(self.arithmetic, np.diagonal(self.stack, axis1=1, axis2=2)[:, :, None])
        return Value(self.arithmetic, self.stack.reshape(len(self.stack), -1, 1) * np.eye(max(rows, columns)))

    def total(self, axis: int | None) -> "Value":
        """The sum of all entries, of each column (0) or of each row (1)."""
        axes = (1, 2) if axis is None else axis + 1
        found = self.stack.sum(axes, keepdims=True)
        return self._rounded(found, np.abs(self.stack).sum(axes, keepdims=True))

    def count(self, axis: int | None) -> int:
        """How many entries such a sum has."""
        return self.stack[0].size if axis is None else self.stack.shape[axis + 1]

    def _rounded(self, exact: Stack, magnitude: Stack) -> "Value":
        return self.arithmetic.rounded(exact, magnitude)
