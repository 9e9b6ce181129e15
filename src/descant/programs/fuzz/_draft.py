"""A program under way: its inputs, its names with their shapes, its lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import numpy as np

from ._written import NAME, Written

Shape = tuple[int, int]
INPUTS = ("X", "Y", "A", "B", "Z")


class Draft:
    """Lines of text, what is known where the next one goes, and the sizes that the program is bound to."""

    def __init__(self, random: Random, *, steps: int):
        self.random, self.steps = random, steps
        self.letters = {"n": random.randint(2, 6), "d": random.randint(1, 4), "k": random.randint(1, 3)}
        self.scalars: dict[str, int | float] = {
            "a": round(random.uniform(-1, 1), 3),
            "b": random.choice([0.25, -0.5, 1.0]),
            "T": steps,
        }
        self.inputs: dict[str, Shape] = {}
        self.shapes: dict[str, Shape] = {}
        self.parameters: list[str] = []
        self.used: set[str] = set()
        self.lines: list[str] = []
        self.indent = "    "
        # Indices of the loops around, with the smallest and the largest value of each.
        self.indices: dict[str, tuple[int, int]] = {}
        self._fresh = 0

    def add_input(self, name: str, shape: tuple[str, str] | None = None, *, optional: bool = False) -> None:
        """A matrix to be handed in, of the sizes given or of random ones."""
        sizes = shape or (self.any_size(), self.any_size())
        self.used |= {size for size in sizes if size in self.letters}
        self.parameters.append(f'{name}: "{sizes[0]} {sizes[1]}"{" = 0" if optional else ""}')
        self.inputs[name] = self.shapes[name] = (self.value(sizes[0]), self.value(sizes[1]))

    def any_size(self) -> str:
        """A letter, more often than a number."""
        return self.random.choice(["n", "n", "d", "d", "k", "1", "2", "3"])

    def value(self, size: str) -> int:
        """What a size is bound to."""
        return self.letters[size] if size in self.letters else int(size)

    def size(self, number: int) -> str:
        """A size in words: a letter of a parameter that has this value, or the number."""
        known = [letter for letter in self.used if self.letters[letter] == number]
        return self.random.choice([*sorted(known), str(number)])

    def fresh(self, letter: str = "v") -> str:
        """A name that nobody has."""
        self._fresh += 1
        return f"{letter}{self._fresh}"

    def write(self, line: str) -> None:
        """Add a line where we are."""
        self.lines.append(f"{self.indent}{line}\n")

    @contextmanager
    def loop(self, bounds: str, indices: range) -> Iterator[str]:
        """Lines written inside are the body of a loop; its index."""
        index = "tijlm"[len(self.indices)]
        self.write(f"for {index} in range({bounds}):")
        before = self.indent
        self.indent += "    "
        self.indices[index] = (min(indices, default=0), max(indices, default=0))
        at = len(self.lines)
        yield index
        if len(self.lines) == at:
            self.write("pass")
        del self.indices[index]
        self.indent = before

    def named(self, fits: Callable[[Shape], bool]) -> list[str]:
        """The names whose shapes fit."""
        return [name for name, shape in self.shapes.items() if fits(shape)]

    def finished(self, returned: list[str], inputs: dict[str, np.ndarray], kind: str, number: int) -> Written:
        """The program."""
        self.write(f"return {', '.join(returned)}")
        head = f"def {NAME}({', '.join(self.parameters)}, *, a=0.5, b=-0.3, T=2):\n"
        settings = {letter: self.letters[letter] for letter in sorted(self.used)}
        return Written(head + "".join(self.lines), {**settings, **self.scalars}, inputs, kind, number)


def gaussian(random: Random, shape: Shape) -> np.ndarray:
    """Entries from a normal law, from Python's own generator, so that one seed makes all of a program."""
    return np.array([[random.gauss(0, 1) for _ in range(shape[1])] for _ in range(shape[0])])
