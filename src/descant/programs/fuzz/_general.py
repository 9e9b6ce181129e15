"""Programs of every shape that must compile: all that the language has, in any order, in loops that are short."""

from dataclasses import replace
from random import Random

from ._draft import INPUTS, Draft, Shape, gaussian
from ._functions import HELPER, Functions
from ._written import Written

MOST_STATEMENTS = 5
DEEPEST_LOOP = 3
SCALE = 0.7


def general(number: int) -> Written:
    """The program of a seed."""
    return _Writer(number).program()


class _Writer(Functions):
    def __init__(self, number: int):
        random = Random(number)
        super().__init__(random, Draft(random, steps=random.choice([0, 1, 2, 3, 4])))
        self.number = number

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
        self.helped = random.random() < 0.15
        for _ in range(random.randint(1, MOST_STATEMENTS)):
            self._statement()
        returned = [self._returned() for _ in range(random.randint(1, 3))]
        written = draft.finished(returned, inputs, "general", self.number)
        return replace(written, text=HELPER + written.text) if self.helped else written

    def _returned(self) -> str:
        names = list(self.draft.shapes)
        name = self.random.choice(names)
        return name if self.random.random() < 0.5 else self._value(self.draft.shapes[name], 2)

    def _statement(self) -> None:
        loops = len(self.draft.indices)
        forms = [self._rebind, self._rebind, self._rebind, self._new, self._new, self._augment, self._swap]
        forms += [self._place, self._branch]
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

    def _place(self) -> None:
        """A row, an entry, or several rows of a matrix replaced."""
        draft, random = self.draft, self.random
        name = random.choice(list(draft.shapes))
        rows, columns = draft.shapes[name]
        sign = random.choice(["=", "=", "+="])
        index = next((each for each, (low, high) in draft.indices.items() if 0 <= low <= high < rows), None)
        if index and random.random() < 0.7:
            draft.write(f"{name}[{index}] {sign} {self._value((1, columns), 2)}")
        elif random.random() < 0.3:
            entry = f"{random.randrange(rows)}, {random.randrange(columns)}"
            draft.write(f"{name}[{entry}] {sign} {self._value((1, 1), 2)}")
        else:
            top = random.randrange(rows)
            bottom = random.randint(top + 1, rows)
            draft.write(f"{name}[{top}:{bottom}] {sign} {self._value((bottom - top, columns), 2)}")

    def _branch(self) -> None:
        """A decision on numbers; what it binds was there before, in the same shape."""
        draft = self.draft
        index = self.random.choice([*draft.indices, "T"])
        condition = self.random.choice([f"{index} % 2 == 0", f"{index} > 1", "a < b", f"a > 0 and not {index} == 1"])
        before = draft.indent
        for keyword in (f"if {condition}:", "else:")[: self.random.randint(1, 2)]:
            draft.write(keyword)
            draft.indent = before + "    "
            self.random.choice([self._rebind, self._augment, self._place])()
            draft.indent = before

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
