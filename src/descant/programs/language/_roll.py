"""Loops whose iterations all do the same become repeats; the others stay written out.

All iterations were recorded. Each operand of an iteration is made inside it, or is the same value every time, or is
what one of the program's names held when that iteration began. If every operand of every iteration fits one of the
three in the same way, the loop is a repeat, whatever Python code produced it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from ._instructions import Body, Constant, Instruction, Repeat, Shape
from ._trace import LoopRecord, Trace

# What an operand of a loop's body is: ("inside", index in the iteration), ("outside", address), or ("name", name).
Source = tuple[str, int | str]
# Instructions under the addresses of the trace; a repeat's results keep the addresses they stand for.
Tape = list[tuple[int, Instruction]]


class _Differs(Exception):
    """The iterations are not the same."""


def roll(trace: Trace, results: Sequence[int]) -> Body:
    """The recorded program with repeats, without what no result needs."""
    last_use = dict.fromkeys(results, len(trace.instructions))
    for address, instruction in reversed(list(enumerate(trace.instructions))):
        for operand in instruction.operands:
            last_use.setdefault(operand, address)
    tape = _Roller(trace, last_use).assemble(0, len(trace.instructions), len(trace.loops))
    return _renumbered(tape, results)


class _Roller:
    """Goes through the record from the outermost loops inwards."""

    def __init__(self, trace: Trace, last_use: dict[int, int]):
        self.trace, self.last_use, self.fresh = trace, last_use, count(10**12)
        # Outer loops first. Of two that cover the same stretch, the one that ended later is the outer one.
        loops = [(loop.starts[0], -loop.starts[-1], -order, loop) for order, loop in enumerate(trace.loops)]
        self.loops = sorted((entry for entry in loops if entry[0] < -entry[1]), key=lambda entry: entry[:3])
        self.begins = [entry[0] for entry in self.loops]

    def assemble(self, start: int, stop: int, limit: int) -> Tape:
        """Instructions from start to stop, with the outermost loops among them rolled up where they can be.

        Only loops that ended before the one numbered `limit`, in which this stretch lies.
        """
        found: Tape = []
        done = start
        for index in range(bisect_left(self.begins, start), bisect_left(self.begins, stop)):
            begin, end, order, loop = self.loops[index]
            if begin < done or -end > stop or -order >= limit:
                continue
            found += [(each, self.trace.instructions[each]) for each in range(done, begin)]
            found += self._loop(loop, -order)
            done = -end
        return found + [(each, self.trace.instructions[each]) for each in range(done, stop)]

    def _loop(self, loop: LoopRecord, order: int) -> Tape:
        bounds = zip(loop.starts[:-1], loop.starts[1:], strict=True)
        tapes = [self.assemble(first, last, order) for first, last in bounds]
        if len(tapes) >= 2:
            try:
                return _Rolled(self, loop, tapes).repeat()
            except _Differs:
                pass
        return [entry for tape in tapes for entry in tape]


class _Rolled:
    """One loop being rolled up."""

    def __init__(self, roller: _Roller, loop: LoopRecord, tapes: list[Tape]):
        self.roller, self.loop, self.tapes = roller, loop, tapes
        self.local = [{address: index for index, (address, _) in enumerate(tape)} for tape in tapes]
        self.shape = {address: each.shape for tape in tapes for address, each in tape}
        self.names = sorted(set.intersection(*(set(names) for names in loop.names)))

    def repeat(self) -> Tape:
        """The loop as a repeat and its results."""
        lines = self._lines()
        used: list[str] = []
        outside: list[int] = []

        def note(source: Source) -> Source:
            kind, what = source
            if kind == "name" and what not in used:
                used.append(str(what))
            if kind == "outside" and what not in outside:
                outside.append(int(what))
            return source

        for _, sources in lines:
            for source in sources:
                note(source)
        read = list(used)
        wanted = self._wanted()
        for kind, what in wanted.values():
            if kind == "name" and what not in used:
                used.append(str(what))
        nexts: list[Source] = []
        for name in used:  # grows while names hand values to each other
            source = note(self._source([names[name] for names in self.loop.names[1:]]))
            nexts.append(source)
            if name in read and source[0] == "name" and source[1] not in read:
                read.append(str(source[1]))
        # Values made in the last iteration and read after the loop are carried too, but nothing reads their start.
        extra = [int(what) for kind, what in wanted.values() if kind == "inside"]
        nexts += [("inside", index) for index in extra]
        return self._emit(lines, used, read, nexts, extra, outside, wanted)

    def _lines(self) -> list[tuple[Instruction, list[Source]]]:
        first = self.tapes[0]
        if any(len(tape) != len(first) for tape in self.tapes):
            raise _Differs
        lines = []
        for index, (_, instruction) in enumerate(first):
            versions = [tape[index][1] for tape in self.tapes]
            for version in versions[1:]:
                if replace(version, operands=instruction.operands) != instruction or len(version.operands) != len(
                    instruction.operands
                ):
                    raise _Differs
            operands = zip(*(version.operands for version in versions), strict=True)
            lines.append((instruction, [self._source(list(each)) for each in operands]))
        return lines

    def _source(self, addresses: list[int]) -> Source:
        """Where a value comes from that has these addresses, iteration by iteration."""
        indices = {local.get(address) for local, address in zip(self.local, addresses, strict=True)}
        if len(indices) == 1 and None not in indices:
            return "inside", indices.pop()  # type: ignore[return-value]
        if len(set(addresses)) == 1:
            return "outside", addresses[0]
        for name in self.names:
            if all(names[name] == address for names, address in zip(self.loop.names[:-1], addresses, strict=True)):
                if len({self._shape(address) for address in addresses}) > 1:
                    raise _Differs
                return "name", name
        raise _Differs

    def _shape(self, address: int) -> Shape:
        return self.shape.get(address) or self.roller.trace.instructions[address].shape

    def _wanted(self) -> dict[int, Source]:
        """Values of the loop that are read after it."""
        stop, wanted = self.loop.starts[-1], {}
        final = self.loop.names[-1]
        for tape in self.tapes:
            for address, instruction in tape:
                if self.roller.last_use.get(address, -1) < stop or instruction.op == "repeat":
                    continue
                name = next((name for name in self.names if final[name] == address), None)
                if name is not None:
                    wanted[address] = ("name", name)
                elif address in self.local[-1]:
                    wanted[address] = ("inside", self.local[-1][address])
                else:
                    raise _Differs
        return wanted

    def _emit(self, lines, used, read, nexts, extra, outside, wanted) -> Tape:
        """Put the repeat together. A carried value that nothing in the loop reads may start anywhere: at zero."""
        carried = len(used) + len(extra)
        first_inside = carried + len(outside)
        address_of = {("name", name): index for index, name in enumerate(used)}
        address_of |= {("outside", address): carried + index for index, address in enumerate(outside)}

        def resolve(source: Source) -> int:
            return first_inside + int(source[1]) if source[0] == "inside" else address_of[source]

        shapes = [self._shape(self.loop.names[0][name]) for name in used]
        shapes += [self.tapes[0][index][1].shape for index in extra]
        names = [*used, *(self.tapes[0][index][1].name or "" for index in extra)]
        hints = [*names, *(None for _ in outside)]
        body = [
            Instruction("parameter", (), shape, index, name=hints[index])
            for index, shape in enumerate([*shapes, *(self._shape(address) for address in outside)])
        ]
        body += [replace(each, operands=tuple(map(resolve, sources))) for each, sources in lines]
        results = tuple(map(resolve, nexts))
        repeat = Repeat(len(self.tapes), carried, Body(tuple(body), results), tuple(names))
        tape: Tape = []
        starts: list[int] = []
        for index, shape in enumerate(shapes):
            if index < len(used) and used[index] in read:
                starts.append(self.loop.names[0][used[index]])
                continue
            starts.append(next(self.roller.fresh))
            tape.append((starts[-1], Instruction("constant", (), shape, Constant(np.zeros(shape)))))
        here = next(self.roller.fresh)
        position = lines[0][0].position if lines else None
        tape.append((here, Instruction("repeat", (*starts, *outside), (0, 0), repeat, position=position)))
        for address, (kind, what) in wanted.items():
            index = used.index(str(what)) if kind == "name" else len(used) + extra.index(int(what))
            name = names[index] or None
            tape.append((address, Instruction("result", (here,), shapes[index], index, name=name)))
        return tape


def _renumbered(tape: Tape, results: Sequence[int]) -> Body:
    """Addresses counted from 0, and only what is needed."""
    by_address = dict(tape)
    needed, waiting = set(), list(results)
    while waiting:
        address = waiting.pop()
        if address not in needed:
            needed.add(address)
            waiting += by_address[address].operands
    index: dict[int, int] = {}
    kept = []
    for address, instruction in tape:
        if address in needed:
            index[address] = len(kept)
            kept.append(replace(instruction, operands=tuple(index[each] for each in instruction.operands)))
    return Body(tuple(kept), tuple(index[address] for address in results))
