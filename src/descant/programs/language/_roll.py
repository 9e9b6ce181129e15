"""Loops whose iterations all do the same become repeats; the others stay written out."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from ._instructions import Body
from ._repeat import Differs, Iterations, Tape, Workshop, repeat, shared
from ._rotate import each_once, rotated
from ._trace import LoopRecord, Trace


@dataclass(frozen=True)
class Rolled:
    """A program with repeats: as it was recorded, and with loops rewritten that differ in their index alone."""

    body: Body
    others: tuple[Body, ...]


def roll(trace: Trace, results: Sequence[int]) -> Rolled:
    """The recorded program with repeats, without what no result needs; and other ways to write it."""
    last_use = dict.fromkeys(results, len(trace.instructions))
    for address, instruction in reversed(list(enumerate(trace.instructions))):
        for operand in instruction.operands:
            last_use.setdefault(operand, address)

    def rolled(way: Callable[[Iterations, Workshop], Tape] | None) -> tuple[Body, _Roller]:
        roller = _Roller(trace, last_use, way)
        tape = roller.assemble(0, len(trace.instructions), len(trace.loops))
        return shared(_renumbered(tape, results)), roller

    body, roller = rolled(None)
    others = map(rolled, WAYS) if roller.differ else ()
    return Rolled(body, tuple(dict.fromkeys(found for found, roller in others if roller.rewrote)))


# What can be done with a loop whose iterations are not the same, but for leaving it written out.
WAYS = (each_once, partial(rotated, ahead=False), partial(rotated, ahead=True))


class _Roller:
    """Goes through the record from the outermost loops inwards."""

    def __init__(self, trace: Trace, last_use: dict[int, int], way: Callable[[Iterations, Workshop], Tape] | None):
        self.trace, self.last_use, self.way = trace, last_use, way
        # Whether iterations of some loop were not the same, and whether one was rewritten for that.
        self.differ = self.rewrote = False
        shapes = {address: each.shape for address, each in enumerate(trace.instructions)}
        self.workshop = Workshop(shapes, count(len(shapes)).__next__)
        # Outer loops first. Of two that cover the same stretch, the one that ended later is the outer one.
        loops = [(loop.starts[0], -loop.starts[-1], -order, loop) for order, loop in enumerate(trace.loops)]
        self.loops = sorted(loops, key=lambda entry: entry[:3])
        self.begins = [entry[0] for entry in self.loops]
        # What nothing reads after the last iteration of a loop, but after the others: the last is to do the same, so
        # loops in it hand on the same values. By the number of the outermost such loop.
        self.handed_on: dict[int, int] = {}
        for order, loop in enumerate(trace.loops):
            for name, address in loop.names[1].items():
                if name in loop.names[-1] and last_use.get(address, -1) >= loop.starts[1]:
                    self.handed_on[loop.names[-1][name]] = order

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
            made = range(loop.starts[0], loop.starts[-1])
            read_after = {
                each
                for each in made
                if self.last_use.get(each, -1) >= loop.starts[-1] or self.handed_on.get(each, -1) > order
            }
            iterations = Iterations(tapes, list(loop.names), read_after)
            with suppress(Differs):
                return repeat(iterations, self.workshop)
            self.differ = True
            if self.way is not None:
                with suppress(Differs):
                    tape = self.way(iterations, self.workshop)
                    self.rewrote = True
                    return tape
        return [entry for tape in tapes for entry in tape]


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
