"""Functions, parts and products of single entries: what random programs have beyond the algebra of matrices."""

from ._draft import Shape
from ._values import AbstractValues, Form

# One for every shape, with a name of its own inside that the program has too.
HELPER = """
def step(P, Q, c=0.5):
    X = P @ Q.T
    return c * X @ Q + P


"""
# Products element by element take blocks for every row.
MOST_ENTRIES = 12


class Functions(AbstractValues):
    """Writes values with the language's functions."""

    helped = False

    def _forms(self, shape: Shape) -> list[Form]:
        rows, columns = shape
        more: list[Form] = [self._scaled]
        more += [self._elementwise] if rows * columns <= MOST_ENTRIES else []
        more += [self._diagonal] if rows == columns > 1 else []
        more += [self._sums] if 1 in shape else []
        more += [self._entry, self._newton] if shape == (1, 1) else []
        more += [self._step] if self.helped else []
        return self._algebra(shape) * 2 + more

    def _scaled(self, shape: Shape, depth: int) -> str:
        """A matrix times a value of one entry."""
        factors = [self._value((1, 1), depth - 1), self._value(shape, depth - 1)]
        self.random.shuffle(factors)
        return f"({factors[0]} * {factors[1]})"

    def _elementwise(self, shape: Shape, depth: int) -> str:
        one, two = self._value(shape, depth - 1), self._value(shape, depth - 1)
        return self.random.choice([f"({one} * {two})", f"hadamard({one}, {two})", f"({one} ** 2)"])

    def _diagonal(self, shape: Shape, depth: int) -> str:
        size = shape[0]
        column = (size, 1) if self.random.random() < 0.5 else (1, size)
        return f"diag({self._value(column, depth - 1)})"

    def _sums(self, shape: Shape, depth: int) -> str:
        rows, columns = shape
        name = self.random.choice(["sum", "mean"])
        other = self.random.choice([size for its in self.draft.shapes.values() for size in its])
        if shape == (1, 1):
            inner = (other, self.random.choice([1, 2, other]))
            if inner[0] == inner[1] and self.random.random() < 0.5:
                return f"trace({self._value(inner, depth - 1)})"
            return f"{name}({self._value(inner, depth - 1)})"
        if rows == 1:
            return f"{name}({self._value((other, columns), depth - 1)}, 0)"
        if self.random.random() < 0.3:
            return f"diag({self._value((rows, rows), depth - 1)})"
        return f"{name}({self._value((rows, other), depth - 1)}, axis=1)"

    def _entry(self, shape: Shape, depth: int) -> str:
        del shape, depth
        name = self.random.choice(list(self.draft.shapes))
        rows, columns = self.draft.shapes[name]
        return f"{name}[{self.random.randint(-rows, rows - 1)}, {self.random.randint(0, columns - 1)}]"

    def _newton(self, shape: Shape, depth: int) -> str:
        """1 / s, or one over its root, of a number between one and a few."""
        del shape
        other = self.random.choice([size for its in self.draft.shapes.values() for size in its])
        value = self._value((other, 1), min(depth - 1, 1))
        inner = f"(eye(1) + 0.1 * ({value}).T @ ({value}))"
        return f"{self.random.choice(['reciprocal', 'rsqrt'])}({inner}, {self.random.randint(1, 6)}, 0.4)"

    def _step(self, shape: Shape, depth: int) -> str:
        arguments = [self._value(shape, depth - 1), self._value(shape, depth - 1)]
        return f"step({', '.join(arguments + [self._scalar()] * self.random.randint(0, 1))})"
