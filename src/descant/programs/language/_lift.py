"""What an inner loop does with the index of the loop around it is handed in from outside.

The inner loop was rolled up in every iteration of the outer one, each time with other numbers in it. Numbers, and
slices of what it is handed, become values of the outer loop's iterations, where they can be dealt with like all others.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from ._coefficients import check_table
from ._instructions import Body, Constant, Instruction, Repeat
from ._repeat import Differs, Iterations, Tape, Workshop, same


def lifted(loop: Iterations, workshop: Workshop) -> Iterations:
    """The same iterations, with repeats in them that are all the same; `Differs` where that can't be had."""
    tapes: list[Tape] = [[] for _ in loop.tapes]
    for index, (_, line) in enumerate(loop.tapes[0]):
        entries = [tape[index] for tape in loop.tapes]
        versions = [each for _, each in entries]
        if line.op == "repeat" and not all(same(line, each) for each in versions):
            entries = _Lifting(workshop, tapes, versions).entries([address for address, _ in entries])
        for tape, entry in zip(tapes, entries, strict=True):
            tape.append(entry)
    return replace(loop, tapes=tapes)


@dataclass
class _Lifting:
    """One inner loop. `handed` are, by what is handed in, the addresses that it has in the iterations."""

    workshop: Workshop
    tapes: list[Tape]
    versions: list[Instruction]
    handed: dict[tuple, list[int]] = field(default_factory=dict)

    def entries(self, addresses: list[int]) -> Tape:
        repeats: list[Repeat] = [each.attribute for each in self.versions]
        first = repeats[0]
        for each in repeats:
            bodies = (len(each.body.instructions), each.body.results)
            if (each.count, each.carried) != (first.count, first.carried) or bodies != (
                len(first.body.instructions),
                first.body.results,
            ):
                raise Differs
        parameters = sum(each.op == "parameter" for each in first.body.instructions)
        lines: list[tuple[Instruction, int | None]] = []
        for index, line in enumerate(first.body.instructions):
            versions = [each.body.instructions[index] for each in repeats]
            if all(same(line, each) and line.operands == each.operands for each in versions):
                lines.append((line, None))
            else:
                lines.append((line, self._hand_in(first, versions)))
        more = len(self.handed)

        def moved(address: int) -> int:
            return address if address < parameters else address + more

        body = [line for line, _ in lines[:parameters]]
        for number, values in enumerate(self.handed.values()):
            body.append(Instruction("parameter", (), self.workshop.shapes[values[0]], parameters + number))
        for line, number in lines[parameters:]:
            line = replace(line, operands=tuple(map(moved, line.operands)))
            body.append(line if number is None else _with(line, parameters + number))
        new = replace(first, body=Body(tuple(body), tuple(map(moved, first.body.results))))
        return [
            (address, replace(line, operands=(*line.operands, *values), attribute=new))
            for address, line, *values in zip(addresses, self.versions, *self.handed.values(), strict=True)
        ]

    def _hand_in(self, repeat: Repeat, versions: list[Instruction]) -> int:
        """The number of a value that is handed in for a line that differs."""
        first = versions[0]
        if any((each.op, each.shape, each.operands) != (first.op, first.shape, first.operands) for each in versions):
            raise Differs
        key: tuple = (first.op, *(each.attribute for each in versions))
        if first.op == "scale":
            check_table(len(versions), min(first.shape) ** 2)
            key = (*key, min(first.shape))
            made = [Instruction("constant", (), _square(each), _multiple(each)) for each in versions]
        elif first.op == "constant":
            made = versions
        elif first.op == "slice":
            source = repeat.body.instructions[first.operands[0]]
            if source.op != "parameter" or source.attribute < repeat.carried:
                raise Differs
            values = [outer.operands[source.attribute] for outer in self.versions]
            key = (*key, *values)
            made = [replace(each, operands=(value,)) for each, value in zip(versions, values, strict=True)]
        else:
            raise Differs
        if key not in self.handed:
            self.handed[key] = [self.workshop.new(tape, each) for tape, each in zip(self.tapes, made, strict=True)]
        return list(self.handed).index(key)


def _square(line: Instruction) -> tuple[int, int]:
    return min(line.shape), min(line.shape)


def _multiple(line: Instruction) -> Constant:
    return Constant(line.attribute * np.eye(min(line.shape)))


def _with(line: Instruction, value: int) -> Instruction:
    """A line that takes what was handed in."""
    if line.op == "scale":
        (old,) = line.operands
        operands = (old, value) if line.shape[1] == min(line.shape) else (value, old)
        return replace(line, op="multiply", operands=operands, attribute=None)
    return replace(line, op="slice", operands=(value,), attribute=(0, line.shape[0], 0, line.shape[1]))
