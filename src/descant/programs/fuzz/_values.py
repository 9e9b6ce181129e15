"""Values of random programs: every way to write a matrix of a given shape."""

from abc import abstractmethod
from collections.abc import Callable
from random import Random

from ._draft import Draft, Shape

Form = Callable[[Shape, int], str]


class AbstractValues:
    """Writes values from the names of a draft."""

    def __init__(self, random: Random, draft: Draft):
        self.random, self.draft = random, draft

    def _value(self, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self._leaf(shape, 0)
        return self.random.choice(self._forms(shape))(shape, depth)

    @abstractmethod
    def _forms(self, shape: Shape) -> list[Form]:
        """Ways to write a value of this shape, those that should come often more than once."""

    def _algebra(self, shape: Shape) -> list[Form]:
        """Those that are sums, products, transposes and parts."""
        found: list[Form] = [self._leaf, self._leaf, self._sum, self._product, self._product, self._product]
        found += [self._multiple, self._stack, self._slice, self._transposed]
        found += [self._symmetric] if shape[0] == shape[1] else []
        return [*found, self._row] if self.draft.indices else found

    def _leaf(self, shape: Shape, depth: int) -> str:
        draft, random = self.draft, self.random
        rows, columns = shape
        named = draft.named(lambda its: its == shape)
        named += [f"{name}.T" for name in draft.named(lambda its: its == (columns, rows))]
        if named and random.random() < 0.9:
            return random.choice(named)
        if depth > 0 and random.random() < 0.6:
            return self._product(shape, 1)
        if rows == columns and random.random() < 0.6:
            return f"({self._scalar()} * eye({draft.size(rows)}))"
        if rows * columns <= 6 and random.random() < 0.5:
            return f"constant({[[random.choice([-2, -1, 0, 0.5, 1, 2]) for _ in range(columns)] for _ in range(rows)]})"
        if random.random() < 0.25:
            return f"zeros({draft.size(rows)}, {draft.size(columns)})"
        return f"({self._scalar()} * ones({draft.size(rows)}, {draft.size(columns)}))"

    def _sum(self, shape: Shape, depth: int) -> str:
        return f"({self._value(shape, depth - 1)} {self.random.choice('+-')} {self._value(shape, depth - 1)})"

    def _product(self, shape: Shape, depth: int) -> str:
        inner = self.random.choice([size for its in self.draft.shapes.values() for size in its])
        return f"({self._value((shape[0], inner), depth - 1)} @ {self._value((inner, shape[1]), depth - 1)})"

    def _symmetric(self, shape: Shape, depth: int) -> str:
        """E E^T, of a name where there is one: the compiler knows that it is symmetric."""
        inner = self.random.choice([size for its in self.draft.shapes.values() for size in its])
        value = self._value((shape[0], inner), depth - 2)
        return f"({value} @ {value}.T)"

    def _transposed(self, shape: Shape, depth: int) -> str:
        return f"({self._value((shape[1], shape[0]), depth - 1)}).T"

    def _multiple(self, shape: Shape, depth: int) -> str:
        value, form = self._value(shape, depth - 1), self.random.randrange(5)
        if form == 0:
            return f"(-{value})"
        if form == 1:
            return f"({value} / {self.random.choice(['2', '(T + 1)', 'sqrt(3)'])})"
        if form == 2:
            return f"({value} * {self._scalar()})"
        return f"({self._scalar()} * {value})"

    def _scalar(self) -> str:
        choices = ["a", "b", "0.5", "2", "(a + b)", "a ** 2", "0", "max(a, b)"]
        if self.draft.indices and self.random.random() < 0.3:
            index = self.random.choice(list(self.draft.indices))
            choices = [f"cos({index})", f"1 / ({index} + 2)", f"0.1 * {index}", f"({index} % 2)", f"b ** {index}"]
        return self.random.choice(choices)

    def _stack(self, shape: Shape, depth: int) -> str:
        """Parts of the right size together, or a part of two stacked ones."""
        draft, (rows, columns) = self.draft, shape
        if columns > 1 and self.random.random() < 0.5:
            cut = self.random.randint(1, columns - 1)
            parts = [self._value((rows, cut), depth - 1), self._value((rows, columns - cut), depth - 1)]
            return f"hstack([{', '.join(parts)}])"
        if rows > 1 and self.random.random() < 0.7:
            cut = self.random.randint(1, rows - 1)
            parts = [self._value((cut, columns), depth - 1), self._value((rows - cut, columns), depth - 1)]
            return f"vstack([{', '.join(parts)}])"
        first, second = self._value(shape, depth - 1), self._value(shape, depth - 1)
        if self.random.random() < 0.5:
            return f"vstack([{first}, {second}])[{draft.size(rows)}:, :]"
        return f"hstack([{first}, {second}])[:, :{draft.size(columns)}]"

    def _slice(self, shape: Shape, depth: int) -> str:
        """Part of something larger."""
        rows, columns = shape
        larger = self.draft.named(lambda its: its[0] >= rows and its[1] >= columns)
        if not larger:
            return self._value(shape, depth - 1)
        name = self.random.choice(larger)
        full_rows, full_columns = self.draft.shapes[name]
        top, left = self.random.randint(0, full_rows - rows), self.random.randint(0, full_columns - columns)
        if self.random.random() < 0.3 and top + rows < full_rows:
            return f"{name}[{top - full_rows}:{top + rows - full_rows}, {left}:{left + columns}]"
        return f"{name}[{top}:{top + rows}, {left}:{left + columns}]"

    def _row(self, shape: Shape, depth: int) -> str:
        """A row or a column at the index of a loop."""
        index = self.random.choice(list(self.draft.indices))
        low, high = self.draft.indices[index]
        rows, columns = shape
        if rows == 1:
            names = self.draft.named(lambda its: its[0] > high and low >= 0 and its[1] == columns)
            if names:
                return f"{self.random.choice(names)}[{index}:{index} + 1, :]"
        if columns == 1:
            names = self.draft.named(lambda its: its[1] > high and low >= 0 and its[0] == rows)
            if names:
                return f"{self.random.choice(names)}[:, {index}:{index} + 1]"
        inner = (rows, 1), (1, columns)
        if depth > 1 and (rows > 1 and columns > 1):
            return f"({self._value(inner[0], depth - 1)} @ {self._value(inner[1], depth - 1)})"
        return self._value(shape, depth - 1)
