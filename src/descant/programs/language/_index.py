"""Loops whose iterations differ in their index alone: where they slice, what they write to, what they multiply by.

Such a loop is rewritten so that every iteration does the same. Each thing that moves with the index becomes a value
that the loop carries and turns (`_turn`), so that the part for the iteration is always in the same place. The rewritten
iterations are compared like any others, and what was moved was only moved: no number changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ._instructions import Instruction, Shape
from ._repeat import Differs, Iterations, Tape, Workshop, same

Window = tuple[int, int, int, int]
Turn = tuple[int, int]  # by how many rows, by how many columns


@dataclass
class Indexed:
    """A loop that depends on its index, being rewritten.

    `before` and `after` are what is done around it, `lines` what takes the place of a line of iteration t: a list of
    lines, by iteration. `ends` are lines at the end of each iteration. `held` are values under new names at the
    boundaries of iterations. With `ahead`, an iteration finds its part made by the one before.
    """

    loop: Iterations
    workshop: Workshop
    ahead: bool
    before: Tape = field(default_factory=list)
    after: Tape = field(default_factory=list)
    lines: dict[int, list[Tape]] = field(default_factory=dict)
    ends: list[Tape] = field(default_factory=list)
    held: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.local = [{address: index for index, (address, _) in enumerate(tape)} for tape in self.loop.tapes]
        self.ends = [[] for _ in self.loop.tapes]
        self._hoisted: dict[int, int] = {}

    @property
    def count(self) -> int:
        """The number of iterations."""
        return len(self.loop.tapes)

    def versions(self, index: int) -> list[Instruction]:
        """A line in all iterations."""
        return [tape[index][1] for tape in self.loop.tapes]

    def address(self, index: int, iteration: int) -> int:
        """Of a line's value."""
        return self.loop.tapes[iteration][index][0]

    def inside(self, index: int, operand: int) -> int | None:
        """Which line of the same iteration an operand is."""
        found = {
            local.get(each.operands[operand]) for local, each in zip(self.local, self.versions(index), strict=True)
        }
        return found.pop() if len(found) == 1 else None

    def unchanged(self, index: int, operand: int) -> int | None:
        """The address of an operand that is the same in all iterations; what computes it is done before the loop."""
        addresses = [each.operands[operand] for each in self.versions(index)]
        line = self.inside(index, operand)
        if line is not None:
            return self._hoist(line)
        if all(each == addresses[0] for each in addresses) and addresses[0] not in self.local[0]:
            return addresses[0]
        return None

    def _hoist(self, line: int) -> int | None:
        if line not in self._hoisted:
            versions = self.versions(line)
            if line in self.lines or not all(same(versions[0], each) for each in versions):
                return None
            operands = [self.unchanged(line, each) for each in range(len(versions[0].operands))]
            known = tuple(each for each in operands if each is not None)
            if len(known) < len(operands):
                return None
            _, first = self.loop.tapes[0][line]
            self._hoisted[line] = self.workshop.new(
                self.before, Instruction(first.op, known, first.shape, first.attribute, first.name, first.position)
            )
        return self._hoisted[line]

    def hold(self, name: str, values: list[int]) -> None:
        """A value that the loop carries under a new name: at the beginning of each iteration, and at the end."""
        while name in self.held:
            name += "'"
        self.held[name] = values

    def name_of(self, address: int) -> str:
        """What people call a value."""
        named = (name for name, value in self.loop.names[0].items() if value == address)
        hoisted = (each.name for each_address, each in self.before if each_address == address and each.name)
        return next(named, None) or next(hoisted, None) or "a value"

    def finished(self, read_after: set[int]) -> Iterations:
        """The rewritten iterations."""
        tapes = []
        for iteration, tape in enumerate(self.loop.tapes):
            new: Tape = []
            for index, entry in enumerate(tape):
                new += self.lines[index][iteration] if index in self.lines else [entry]
            tapes.append(new + self.ends[iteration])
        names: list[Mapping[str, int]] = [
            {**names, **{name: values[boundary] for name, values in self.held.items()}}
            for boundary, names in enumerate(self.loop.names)
        ]
        return Iterations(tapes, names, read_after)


def moved(windows: list[Window], around: Shape | None = None) -> Turn:
    """By how many rows and columns a window of constant size moves each time; `around` in a matrix of this shape."""
    first, second = windows[:2]
    step = (second[0] - first[0], second[2] - first[2])
    for index, (top, bottom, left, right) in enumerate(windows):
        gap = (top - first[0] - index * step[0], left - first[2] - index * step[1])
        if any(gap) and (around is None or gap[0] % around[0] or gap[1] % around[1]):
            raise Differs
        if (bottom - top, right - left) != (first[1] - first[0], first[3] - first[2]):
            raise Differs
    return step if around is None else (step[0] % around[0], step[1] % around[1])
