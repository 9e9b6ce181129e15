"""Programs of every shape that must compile: all that the language has, in any order, in loops that are short."""

from random import Random

from ._draft import INPUTS, Draft, Shape, gaussian
from ._written import Written

MOST_STATEMENTS = 5
DEEPEST_LOOP = 3
SCALE = 0.7


def general(number: int) -> Written:
    """The program of a seed."""
    return _Writer(number).program()


class _Writer:
    def __init__(self, number: int):
        self.number, self.random = number, Random(number)
        self.draft = Draft(self.random, steps=self.random.choice([0, 1, 2, 3, 4]))

    def program(self) -> Written:
        random, draft = self.random, self.draft
        for name in INPUTS[: random.randint(1, 4)]:
            draft.add_input(name)
        if random.random() < 0.1:
            # Nobody reads this one, and it may be taller than everything else.
            draft.add_input("unread", (str(random.randint(1, 40)), draft.any_size()))
            del draft.shapes["unread"]
        if random.random() < 0.4:
            draft.add_input("w", optional=True)
        inputs = {name: SCALE * gaussian(random, shape) for name, shape in draft.inputs.items()}
        for _ in range(random.randint(1, MOST_STATEMENTS)):
            self._statement()
        returned = [self._returned() for _ in range(random.randint(1, 3))]
        return draft.finished(returned, inputs, "general", self.number)

    def _returned(self) -> str:
        names = list(self.draft.shapes)
        name = self.random.choice(names)
        return name if self.random.random() < 0.5 else self._value(self.draft.shapes[name], 2)

    # Statements

    def _statement(self) -> None:
        loops = len(self.draft.indices)
        forms = [self._rebind, self._rebind, self._rebind, self._new, self._new, self._augment, self._swap]
        if self.random.random() < 0.35 and loops < DEEPEST_LOOP:
            forms = [self._loop] if loops else [self._loop, self._loop, self._growing]
        self.random.choice(forms)()

    def _rebind(self) -> None:
        name = self.random.choice(list(self.draft.shapes))
        self.draft.write(f"{name} = {self._value(self.draft.shapes[name], 3)}")

    def _new(self) -> None:
        """A new name; outside of loops also an old one with another shape."""
        draft, shape = self.draft, self._shape()
        value = self._value(shape, 3)
        again = not draft.indices and self.random.random() < 0.25
        name = self.random.choice(list(draft.shapes)) if again else draft.fresh()
        draft.write(f"{name} = {value}")
        draft.shapes[name] = shape

    def _augment(self) -> None:
        draft = self.draft
        name = self.random.choice(list(draft.shapes))
        rows, columns = draft.shapes[name]
        form = self.random.randrange(4)
        if form == 0:
            draft.write(f"{name} *= {self._scalar()}")
        elif form == 1 and rows * columns <= 16:
            draft.write(f"{name} @= {self._value((columns, columns), 1)}")
        else:
            draft.write(f"{name} {self.random.choice('+-')}= {self._value(draft.shapes[name], 2)}")

    def _swap(self) -> None:
        """Values handed from name to name, as momentum methods do."""
        draft = self.draft
        first = self.random.choice(list(draft.shapes))
        same = draft.named(lambda shape: shape == draft.shapes[first])
        second = self.random.choice(same)
        if first == second or self.random.random() < 0.3:
            draft.write(f"{first} = {second}")
        elif self.random.random() < 0.5:
            draft.write(f"{first}, {second} = {second}, {first}")
        else:
            draft.write(f"{first}, {second} = {second}, {self._value(draft.shapes[first], 2)}")

    def _loop(self) -> None:
        random, draft = self.random, self.draft
        tall = random.choice(list(draft.shapes.values()))
        bounds, indices = random.choice(
            [
                ("T", range(draft.steps)),
                ("T", range(draft.steps)),
                ("T", range(draft.steps)),
                ("1, T + 1", range(1, draft.steps + 1)),
                (draft.size(tall[0]), range(tall[0])),
                (draft.size(tall[1]), range(tall[1])),
                ("2", range(2)),
                ("1", range(1)),
                ("0", range(0)),
                ("3, 0, -1", range(3, 0, -1)),
                ("0, 4, 2", range(0, 4, 2)),
            ]
        )
        before = dict(draft.shapes)
        with draft.loop(bounds, indices):
            if len(draft.indices) == 1 and random.random() < 0.12:
                self._reshaped()
            for _ in range(random.randint(1, 3)):
                self._statement()
        # What a loop binds that never runs is not bound.
        draft.shapes = draft.shapes if indices else before

    def _reshaped(self) -> None:
        """A name from outside that gets another shape before anything in the body reads it."""
        draft = self.draft
        name, shape = self.random.choice(list(draft.shapes)), self._shape()
        if len(draft.shapes) == 1:
            return
        del draft.shapes[name]
        draft.write(f"{name} = {self._value(shape, 2)}")
        draft.shapes[name] = shape

    def _growing(self) -> None:
        """A matrix that has more columns after every iteration."""
        draft = self.draft
        name = self.random.choice(list(draft.shapes))
        rows, columns = draft.shapes[name]
        inside, width = draft.fresh("g"), self.random.choice([1, columns])
        count = self.random.choice([2, 3, draft.steps])
        if columns + count * width > 12 or len(draft.shapes) == 1:
            return
        with draft.loop("T" if count == draft.steps else str(count), range(count)):
            del draft.shapes[name]
            added = self._value((rows, width), 1)
            draft.write(f"{name} = hstack([{name}, {added}])")
            draft.write(f"{inside} = {name} @ {name}.T")
            draft.shapes[inside] = (rows, rows)
            self._rebind()
        draft.shapes[name] = (rows, columns + count * width)
        if count == 0:
            del draft.shapes[inside]

    def _shape(self) -> Shape:
        """One that is there already, transposed now and then, or a small one."""
        if self.random.random() < 0.7:
            rows, columns = self.random.choice(list(self.draft.shapes.values()))
            return (rows, columns) if self.random.random() < 0.6 else (columns, rows)
        return self.draft.value(self.draft.any_size()), self.draft.value(self.draft.any_size())

    # Values

    def _value(self, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self._leaf(shape, 0)
        choices = [self._leaf, self._leaf, self._sum, self._product, self._product, self._product, self._multiple]
        choices += [self._stack, self._slice, self._transposed]
        if shape[0] == shape[1]:
            choices += [self._symmetric]
        if self.draft.indices:
            choices += [self._row]
        return self.random.choice(choices)(shape, depth)

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
