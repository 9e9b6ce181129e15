"""Parts written at a place that moves with the index: what is written to is turned, and turned back after the loop."""

from dataclasses import replace

from ._index import Indexed, moved
from ._repeat import Differs
from ._turn import Turner
from ._windows import checked_size, relative


class Written:
    """A value that the loop carries under one name and writes to: the lines that make it anew, and those that read it.

    It may be written to and read several times in an iteration, if all of that moves alike, and be multiplied.
    """

    def __init__(self, work: Indexed, name: str):
        self.work, self.name = work, name
        self.starts = [names[name] for names in work.loop.names]
        # The lines that make it anew, in order, and the lines that read a part of it.
        self.made: list[int] = []
        self.read: list[int] = []
        for index, (_, line) in enumerate(work.loop.tapes[0]):
            operands = range(len(line.operands))
            ours = [each for each in operands if self._is_ours(index, each)]
            if not ours:
                continue
            if ours != [0] or line.op not in ("place", "slice", "scale"):
                raise Differs
            (self.read if line.op == "slice" else self.made).append(index)
        if not self.made:
            raise Differs
        last = [work.address(self.made[-1], iteration) for iteration in range(work.count)]
        # What is read when the loop is over is the last of all; the others are no more.
        gone = {work.address(index, each) for index in self.made for each in range(work.count)} - {last[-1]}
        if last != self.starts[1:] or gone & work.loop.read_after:
            raise Differs

    def _is_ours(self, index: int, operand: int) -> bool:
        addresses = [each.operands[operand] for each in self.work.versions(index)]
        return addresses == self.starts[:-1] or self.work.inside(index, operand) in self.made

    def rewrite(self) -> int:
        """Rewrite all lines; the address that the turned value has at the end."""
        work = self.work
        moving = [index for index in (*self.made, *self.read) if work.loop.tapes[0][index][1].op != "scale"]
        shape = work.workshop.shapes[self.starts[0]]
        turns = {moved([each.attribute for each in work.versions(index)], shape) for index in moving}
        if len(turns) != 1:
            raise Differs
        (turn,) = turns
        firsts = [work.versions(index)[0].attribute for index in moving]
        corner = (min(each[0] for each in firsts), min(each[2] for each in firsts))
        checked_size(shape)
        turner = Turner(work.workshop, work.before, shape, turn)
        value = Turner(work.workshop, work.before, shape, corner)(work.before, self.starts[0])
        held = [value]
        for index in (*self.made, *self.read):
            work.lines[index] = []
        for iteration, (tape, end) in enumerate(zip(work.loop.tapes, work.ends, strict=True)):
            now = {self.starts[iteration]: held[-1]}
            for index in sorted((*self.made, *self.read)):
                address, line = tape[index]
                operands = (now[line.operands[0]], *line.operands[1:])
                attribute = line.attribute
                if line.op != "scale":
                    attribute = relative(work.versions(index)[0].attribute, corner)
                here = address if index in self.read else work.workshop.fresh()
                work.workshop.shapes[here] = line.shape
                work.lines[index].append([(here, replace(line, operands=operands, attribute=attribute))])
                now[address] = here
            held.append(turner(end, now[self.starts[iteration + 1]]))
        work.hold(f"{self.name} turned", held)
        back = (-corner[0] - work.count * turn[0], -corner[1] - work.count * turn[1])
        turned_back = Turner(work.workshop, work.after, shape, back)
        turned_back.give(work.after, held[-1], self.starts[-1], self.name)
        return held[-1]


def written(work: Indexed, indices: list[int]) -> tuple[set[int], set[int]]:
    """Rewrite parts that are written.

    Returns the lines that were rewritten, and the values of theirs that are read when the loop is over.
    """
    lines: set[int] = set()
    after: set[int] = set()
    for index in indices:
        if index in lines:
            continue
        found = Written(work, _name(work, index))
        lines |= {*found.made, *found.read}
        last = found.rewrite()
        after |= {last} if found.starts[-1] in work.loop.read_after else set()
        work.loop.read_after.discard(found.starts[-1])
    return lines, after


def _name(work: Indexed, index: int) -> str:
    """The name under which the loop carries what a line writes to."""
    while (line := work.inside(index, 0)) is not None and work.loop.tapes[0][line][1].operands:
        index = line
    addresses = [each.operands[0] for each in work.versions(index)]
    for name in work.loop.names[0]:
        held = [names.get(name) for names in work.loop.names]
        if held[:-1] == addresses and held[-1] is not None:
            return name
    raise Differs
