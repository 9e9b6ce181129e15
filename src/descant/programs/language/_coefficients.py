"""Numbers that depend on the index: they stand in a table that the loop carries, today's always in its first corner.

A table of T numbers would be T rows high, and to turn it takes heads for all of them. So it is wrapped into several
columns: the numbers stand row by row, all move one column to the left, and those of the first column one row up into
the last. Numbers that follow from each other by one multiplication or addition, without rounding, need no table.
"""

from itertools import pairwise

import numpy as np

from ._index import Indexed
from ._instructions import Constant, Instruction, Shape
from ._repeat import Differs, Tape
from ._turn import known, part, shift
from ._windows import checked_size

# Entries of a table.
LARGEST = 20_000


def scales(work: Indexed, indices: list[int]) -> None:
    """Rewrite multiples: a product with a multiple of the identity, on the smaller side."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index in indices:
        groups.setdefault(tuple(each.attribute for each in work.versions(index)), []).append(index)
    for numbers, lines in groups.items():
        size = max(min(work.versions(index)[0].shape) for index in lines)
        check_table(len(numbers), size**2)
        found = _Table(work, [number * np.eye(size) for number in numbers])
        for index in lines:
            work.lines[index] = [_multiple(work, found, index, iteration) for iteration in range(work.count)]


def _multiple(work: Indexed, table: "_Table", index: int, iteration: int) -> Tape:
    address, old = work.loop.tapes[iteration][index]
    size = min(old.shape)
    tape: Tape = []
    number = part(work.workshop, tape, table.here[iteration], (0, size, 0, size))
    operands = (old.operands[0], number) if old.shape[1] == size else (number, old.operands[0])
    return [*tape, (address, Instruction("multiply", operands, old.shape, None, old.name, old.position))]


def constants(work: Indexed, indices: list[int]) -> None:
    """Rewrite constants that differ from iteration to iteration."""
    for index in indices:
        versions = work.versions(index)
        table = _Table(work, [each.attribute.array for each in versions])
        rows, columns = versions[0].shape
        work.lines[index] = []
        for iteration, old in enumerate(versions):
            window = (0, rows, 0, columns)
            new = Instruction("slice", (table.here[iteration],), old.shape, window, old.name, old.position)
            work.lines[index].append([(work.address(index, iteration), new)])


def check_table(count: int, size: int) -> None:
    """Nothing is put into a table that is too large; asked before so many matrices of so many numbers are made."""
    if count * size > LARGEST:
        raise Differs


class _Table:
    """Matrices that follow each other; `here` is, by iteration, what has today's in its first corner."""

    def __init__(self, work: Indexed, arrays: list[np.ndarray]):
        self.work, self.arrays = work, arrays
        check_table(len(arrays), arrays[0].size)
        rule = _rule(arrays)
        self.here = self._follow(*rule) if rule else self._turned()

    def _follow(self, factor: float, step: np.ndarray) -> list[int]:
        """Each from the one before, as factor times it plus a step."""
        workshop, before = self.work.workshop, self.work.before
        shape: Shape = self.arrays[0].shape  # type: ignore[assignment]
        found = [known(workshop, before, Constant(self.arrays[0]))]
        added = known(workshop, before, Constant(step)) if step.any() else None
        for tape in self.work.ends:
            value = found[-1]
            if factor != 1:
                value = workshop.new(tape, Instruction("scale", (value,), shape, factor))
            if added is not None:
                value = workshop.new(tape, Instruction("add", (value, added), shape))
            found.append(value)
        self.work.hold("coefficient", found)
        return found

    def _turned(self) -> list[int]:
        work, workshop = self.work, self.work.workshop
        rows, columns = self.arrays[0].shape
        period = _period(self.arrays)
        across = self._across(period)
        down = -(-period // across)
        shape = (down * rows, across * columns)
        checked_size(shape)
        table = np.zeros(shape)
        for index, array in enumerate(self.arrays[:period]):
            i, j = divmod(index, across)
            table[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns] = array
        # All but the first column move left; the first moves up, and to the end.
        left, last = np.eye(shape[1], k=-columns), np.eye(shape[1], k=shape[1] - columns)
        up = shift(shape[0], rows)
        if across == 1:
            sides = [(up, None)]
        else:
            sides = [(None, Constant(left + last))] if down == 1 else [(None, Constant(left)), (up, Constant(last))]
        sides = [[None if each is None else known(workshop, work.before, each) for each in side] for side in sides]
        copies = [known(workshop, work.before, Constant(table))]
        for tape in work.ends:
            terms = []
            for first, second in sides:
                value = copies[-1]
                if first is not None:
                    value = workshop.new(tape, Instruction("multiply", (first, value), shape))
                if second is not None:
                    value = workshop.new(tape, Instruction("multiply", (value, second), shape))
                terms.append(value)
            copies.append(terms[0] if len(terms) == 1 else workshop.new(tape, Instruction("add", tuple(terms), shape)))
        work.hold("coefficients", copies)
        return copies

    def _across(self, period: int) -> int:
        """In how many columns the table is wrapped: as few as let one head turn it, if H is about as wide as it seems.

        Numbers that come again must fill the table, so that they do.
        """
        rows, columns = self.arrays[0].shape
        outside = {each for _, line in self.work.loop.tapes[0] for each in line.operands} - set(self.work.local[0])
        width = sum(self.work.workshop.shapes[each][1] for each in outside)
        for across in range(1, period + 1):
            if (period == self.work.count or period % across == 0) and -(-period // across) * rows <= (
                width + across * columns
            ):
                return across
        return 1


def _rule(arrays: list[np.ndarray]) -> tuple[float, np.ndarray] | None:
    """A factor and a step that give each array from the one before it, to the last bit."""
    first, second = arrays[:2]
    nothing = np.zeros_like(first)
    ratios = second[first != 0] / first[first != 0]
    for factor, step in ((ratios[0] if ratios.size else 1.0, nothing), (1.0, second - first)):
        if np.isfinite(factor) and all(np.array_equal(factor * a + step, b) for a, b in pairwise(arrays)):
            return float(factor), step
    return None


def _period(arrays: list[np.ndarray]) -> int:
    """After how many they come again; their number if they don't."""
    keys = [each.tobytes() for each in arrays]
    # How much of the beginning ends at each key (Knuth, Morris, Pratt).
    border = [0]
    for key in keys[1:]:
        length = border[-1]
        while length and keys[length] != key:
            length = border[length - 1]
        border.append(length + (keys[length] == key))
    return len(keys) - border[-1]
