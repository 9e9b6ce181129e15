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

# What an operand of a loop's body is: ("inside", place in the iteration), ("outside", place), or ("name", name).
Source = tuple[str, int | str]
# Instructions under the places of the trace; a repeat's results keep the places they stand for.
Placed = list[tuple[int, Instruction]]


class _Differs(Exception):
    """The iterations are not the same."""


def roll(trace: Trace, results: Sequence[int]) -> Body:
    """The recorded program with repeats, without what no result needs."""
    last_use = dict.fromkeys(results, len(trace.instructions))
    for place, instruction in reversed(list(enumerate(trace.instructions))):
        for operand in instruction.operands:
            last_use.setdefault(operand, place)
    placed = _Roller(trace, last_use).assemble(0, len(trace.instructions), len(trace.loops))
    return _renumbered(placed, results)


class _Roller:
    """Goes through the record from the outermost loops inwards."""

    def __init__(self, trace: Trace, last_use: dict[int, int]):
        self.trace, self.last_use, self.fresh = trace, last_use, count(10**12)
        # Outer loops first. Of two that cover the same stretch, the one that ended later is the outer one.
        loops = [(loop.starts[0], -loop.starts[-1], -order, loop) for order, loop in enumerate(trace.loops)]
        self.loops = sorted((entry for entry in loops if entry[0] < -entry[1]), key=lambda entry: entry[:3])
        self.begins = [entry[0] for entry in self.loops]

    def assemble(self, start: int, stop: int, limit: int) -> Placed:
        """Instructions from start to stop, with the outermost loops among them rolled up where they can be.

        Only loops that ended before the one numbered `limit`, in which this stretch lies.
        """
        found: Placed = []
        place = start
        for index in range(bisect_left(self.begins, start), bisect_left(self.begins, stop)):
            begin, end, order, loop = self.loops[index]
            if begin < place or -end > stop or -order >= limit:
                continue
            found += [(each, self.trace.instructions[each]) for each in range(place, begin)]
            found += self._loop(loop, -order)
            place = -end
        return found + [(each, self.trace.instructions[each]) for each in range(place, stop)]

    def _loop(self, loop: LoopRecord, order: int) -> Placed:
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

    def __init__(self, roller: _Roller, loop: LoopRecord, tapes: list[Placed]):
        self.roller, self.loop, self.tapes = roller, loop, tapes
        self.local = [{place: index for index, (place, _) in enumerate(tape)} for tape in tapes]
        self.shape = {place: each.shape for tape in tapes for place, each in tape}
        self.names = sorted(set.intersection(*(set(names) for names in loop.names)))

    def repeat(self) -> Placed:
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

    def _source(self, places: list[int]) -> Source:
        """Where a value comes from that has these places, iteration by iteration."""
        indices = {local.get(place) for local, place in zip(self.local, places, strict=True)}
        if len(indices) == 1 and None not in indices:
            return "inside", indices.pop()  # type: ignore[return-value]
        if len(set(places)) == 1:
            return "outside", places[0]
        for name in self.names:
            if all(names[name] == place for names, place in zip(self.loop.names[:-1], places, strict=True)):
                if len({self._shape(place) for place in places}) > 1:
                    raise _Differs
                return "name", name
        raise _Differs

    def _shape(self, place: int) -> Shape:
        return self.shape.get(place) or self.roller.trace.instructions[place].shape

    def _wanted(self) -> dict[int, Source]:
        """Values of the loop that are read after it."""
        stop, wanted = self.loop.starts[-1], {}
        final = self.loop.names[-1]
        for tape in self.tapes:
            for place, instruction in tape:
                if self.roller.last_use.get(place, -1) < stop or instruction.op == "repeat":
                    continue
                name = next((name for name in self.names if final[name] == place), None)
                if name is not None:
                    wanted[place] = ("name", name)
                elif place in self.local[-1]:
                    wanted[place] = ("inside", self.local[-1][place])
                else:
                    raise _Differs
        return wanted

    def _emit(self, lines, used, read, nexts, extra, outside, wanted) -> Placed:
        """Put the repeat together. A carried value that nothing in the loop reads may start anywhere: at zero."""
        carried = len(used) + len(extra)
        first_inside = carried + len(outside)
        place_of = {("name", name): index for index, name in enumerate(used)}
        place_of |= {("outside", place): carried + index for index, place in enumerate(outside)}

        def resolve(source: Source) -> int:
            return first_inside + int(source[1]) if source[0] == "inside" else place_of[source]

        shapes = [self._shape(self.loop.names[0][name]) for name in used]
        shapes += [self.tapes[0][index][1].shape for index in extra]
        names = [*used, *(self.tapes[0][index][1].name or "" for index in extra)]
        hints = [*names, *(None for _ in outside)]
        body = [
            Instruction("parameter", (), shape, index, name=hints[index])
            for index, shape in enumerate([*shapes, *(self._shape(place) for place in outside)])
        ]
        body += [replace(each, operands=tuple(map(resolve, sources))) for each, sources in lines]
        results = tuple(map(resolve, nexts))
        repeat = Repeat(len(self.tapes), carried, Body(tuple(body), results), tuple(names))
        placed: Placed = []
        starts: list[int] = []
        for index, shape in enumerate(shapes):
            if index < len(used) and used[index] in read:
                starts.append(self.loop.names[0][used[index]])
                continue
            starts.append(next(self.roller.fresh))
            placed.append((starts[-1], Instruction("constant", (), shape, Constant(np.zeros(shape)))))
        here = next(self.roller.fresh)
        position = lines[0][0].position if lines else None
        placed.append((here, Instruction("repeat", (*starts, *outside), (0, 0), repeat, position=position)))
        for place, (kind, what) in wanted.items():
            index = used.index(str(what)) if kind == "name" else len(used) + extra.index(int(what))
            name = names[index] or None
            placed.append((place, Instruction("result", (here,), shapes[index], index, name=name)))
        return placed


def _renumbered(placed: Placed, results: Sequence[int]) -> Body:
    """Places counted from 0, and only what is needed."""
    by_place = dict(placed)
    needed, waiting = set(), list(results)
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            waiting += by_place[place].operands
    index: dict[int, int] = {}
    kept = []
    for place, instruction in placed:
        if place in needed:
            index[place] = len(kept)
            kept.append(replace(instruction, operands=tuple(index[each] for each in instruction.operands)))
    return Body(tuple(kept), tuple(index[place] for place in results))
