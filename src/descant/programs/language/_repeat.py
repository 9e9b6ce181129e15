"""A loop whose iterations all do the same, as one repeat.

Each operand of an iteration is made inside it, or is the same value every time, or is what one of the program's names
held when that iteration began. If every operand of every iteration fits one of the three in the same way, the loop is a
repeat, whatever Python code produced it.

A value from outside is handed in once for every place where it is read. Two names may hold one value in the first
iteration of a loop around this one, and two values in the others (`W = X` before it); how often this loop asks for a
value must not tell them apart. When all loops are rolled up, `shared` puts together what is the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ._instructions import Body, Constant, Instruction, Repeat, Shape

# What an operand of a loop's body is: ("inside", index in the iteration), ("outside", address), or ("name", name). When
# values from outside have been noted, ("noted", index among them).
Source = tuple[str, int | str]
# Instructions under the addresses of the trace; a repeat's results keep the addresses they stand for.
Tape = list[tuple[int, Instruction]]


class Differs(Exception):
    """The iterations are not the same."""


@dataclass
class Iterations:
    """A loop as it ran: what each iteration did, and what names held at its beginning; the last names are the end's.

    `read_after` are the values made in the loop that are read when it is over.
    """

    tapes: list[Tape]
    names: list[Mapping[str, int]]
    read_after: set[int]


@dataclass
class Workshop:
    """What a pass over a record shares: the shapes of all values, and addresses for new ones."""

    shapes: dict[int, Shape]
    fresh: Callable[[], int]

    def new(self, tape: Tape, instruction: Instruction) -> int:
        """Add an instruction that was not recorded; its address."""
        address = self.fresh()
        self.shapes[address] = instruction.shape
        tape.append((address, instruction))
        return address


def repeat(loop: Iterations, workshop: Workshop) -> Tape:
    """The loop as a repeat and its results; `Differs` if it is none."""
    return _Repeated(loop, workshop).tape()


class _Repeated:
    def __init__(self, loop: Iterations, workshop: Workshop):
        self.loop, self.workshop = loop, workshop
        self.local = [{address: index for index, (address, _) in enumerate(tape)} for tape in loop.tapes]
        self.made = set().union(*self.local)
        # A name may hold a value that nothing reads any more, and that is nowhere if a rolled up loop made it.
        self.read = {operand for tape in loop.tapes for _, line in tape for operand in line.operands}
        # Names that held something all the time, by what they held first.
        self.names: dict[int, list[str]] = {}
        for name in sorted(set.intersection(*(set(names) for names in loop.names))):
            self.names.setdefault(loop.names[0][name], []).append(name)

    def tape(self) -> Tape:
        lines = self._lines()
        used: list[str] = []
        outside: list[int] = []

        def note(source: Source) -> Source:
            kind, what = source
            if kind == "name" and what not in used:
                used.append(str(what))
            if kind != "outside":
                return source
            outside.append(int(what))
            return "noted", len(outside) - 1

        lines = [(line, [note(source) for source in sources]) for line, sources in lines]
        read = list(used)
        wanted = self._wanted(read)
        for kind, what in wanted.values():
            if kind != "inside" and what not in used:
                used.append(str(what))
        nexts: list[Source] = []
        for name in used:  # grows while names hand values to each other
            source = self._source([names[name] for names in self.loop.names[1:]])
            if source[0] == "outside" and source[1] not in self.read:
                source = "name", name  # no iteration comes to read it: the name may as well keep what it has
            nexts.append(note(source))
            if name in read and source[0] == "name" and source[1] not in read:
                read.append(str(source[1]))
        # Values read after the loop that no name carries are carried too, but nothing reads their start.
        extra = {address: source for address, source in wanted.items() if source[0] != "name"}
        nexts += [("name", what) if kind == "before" else (kind, what) for kind, what in extra.values()]
        return self._emit(lines, used, read, nexts, list(extra), outside, wanted)

    def _lines(self) -> list[tuple[Instruction, list[Source]]]:
        first, *others = self.loop.tapes
        if any(len(tape) != len(first) for tape in others):
            raise Differs
        lines = []
        for index, (_, instruction) in enumerate(first):
            versions = [tape[index][1] for tape in self.loop.tapes]
            if not all(same(instruction, version) for version in versions):
                raise Differs
            operands = zip(*(version.operands for version in versions), strict=True)
            lines.append((instruction, [self._source(list(each)) for each in operands]))
        return lines

    def _source(self, addresses: list[int]) -> Source:
        """Where a value comes from that has these addresses, iteration by iteration."""
        index = self.local[0].get(addresses[0])
        if len(addresses) == 1 and index is None:
            # In a repeat that is run once, what a name held is carried if the name holds something else afterwards.
            for name in self.names.get(addresses[0], ()):
                after = self.loop.names[-1][name]
                if after != addresses[0] and self.workshop.shapes[after] == self.workshop.shapes[addresses[0]]:
                    return "name", name
        if index is not None:
            if all(local.get(address) == index for local, address in zip(self.local, addresses, strict=True)):
                return "inside", index
        elif all(address == addresses[0] for address in addresses) and addresses[0] not in self.made:
            return "outside", addresses[0]
        for name in self.names.get(addresses[0], ()):
            if all(names[name] == address for names, address in zip(self.loop.names[:-1], addresses, strict=True)):
                if len({self.workshop.shapes[address] for address in addresses}) > 1:
                    raise Differs
                return "name", name
        raise Differs

    def _wanted(self, read: list[str]) -> dict[int, Source]:
        """Values of the loop that are read after it; of ("before", name), what the name held one iteration before.

        Rather of the names that the iterations read, as these are carried anyway.
        """
        wanted: dict[int, Source] = {}
        final: dict[int, str] = {}
        before: dict[int, str] = {}
        for name in sorted(
            (each for names in self.names.values() for each in names), key=lambda each: each not in read
        ):
            final.setdefault(self.loop.names[-1][name], name)
            before.setdefault(self.loop.names[-2][name], name)
        for address in sorted(self.loop.read_after):
            if address in final:
                wanted[address] = ("name", final[address])
            elif address in self.local[-1]:
                wanted[address] = ("inside", self.local[-1][address])
            elif address in before:
                wanted[address] = ("before", before[address])
            else:
                raise Differs
        return wanted

    def _emit(self, lines, used, read, nexts, extra, outside, wanted) -> Tape:
        """Put the repeat together. A carried value that nothing in the loop reads may start anywhere: at zero."""
        carried = len(used) + len(extra)
        first_inside = carried + len(outside)
        address_of = {("name", name): index for index, name in enumerate(used)}
        address_of |= {("noted", index): carried + index for index in range(len(outside))}

        def resolve(source: Source) -> int:
            return first_inside + int(source[1]) if source[0] == "inside" else address_of[source]

        # A name that nothing reads may have held something of another shape before the loop; not so after an iteration.
        shapes = [self.workshop.shapes[self.loop.names[1][name]] for name in used]
        shapes += [self.workshop.shapes[address] for address in extra]
        called = {address: name for name, address in self.loop.names[-1].items()}
        names = [*used, *(called.get(address, "") for address in extra)]
        hints = [*names, *(None for _ in outside)]
        body = [
            Instruction("parameter", (), shape, index, name=hints[index])
            for index, shape in enumerate([*shapes, *(self.workshop.shapes[address] for address in outside)])
        ]
        body += [replace(each, operands=tuple(map(resolve, sources))) for each, sources in lines]
        results = tuple(map(resolve, nexts))
        repeated = Repeat(len(self.loop.tapes), carried, Body(tuple(body), results), tuple(names))
        tape: Tape = []
        starts: list[int] = []
        for index, shape in enumerate(shapes):
            start = self.loop.names[0][used[index]] if index < len(used) and used[index] in read else None
            if start in self.read:
                starts.append(start)
            else:
                starts.append(self.workshop.new(tape, Instruction("constant", (), shape, Constant(np.zeros(shape)))))
        position = lines[0][0].position if lines else None
        here = self.workshop.new(tape, Instruction("repeat", (*starts, *outside), (0, 0), repeated, position=position))
        for address, (kind, what) in wanted.items():
            index = used.index(str(what)) if kind == "name" else len(used) + extra.index(address)
            name = names[index] or None
            tape.append((address, Instruction("result", (here,), shapes[index], index, name=name)))
        return tape


def shared(body: Body) -> Body:
    """With every value from outside handed to a repeat once; the outer repeats first, as they say what is the same."""
    return replace(body, instructions=tuple(map(_shared, body.instructions)))


def _shared(line: Instruction) -> Instruction:
    if line.op != "repeat":
        return line
    repeated: Repeat = line.attribute
    starts, outside = line.operands[: repeated.carried], line.operands[repeated.carried :]
    first: dict[int, int] = {}
    for index, address in enumerate(outside, repeated.carried):
        first.setdefault(address, index)
    kept = [*range(repeated.carried), *first.values()]
    place = {address: index for index, address in enumerate(first, repeated.carried)}
    parameters = [*range(repeated.carried), *(place[address] for address in outside)]
    dropped = len(parameters) - len(kept)

    def moved(address: int) -> int:
        return parameters[address] if address < len(parameters) else address - dropped

    old = repeated.body.instructions
    body = [replace(old[each], attribute=index) for index, each in enumerate(kept)]
    body += [replace(each, operands=tuple(map(moved, each.operands))) for each in old[len(parameters) :]]
    new = shared(Body(tuple(body), tuple(map(moved, repeated.body.results))))
    return replace(line, operands=(*starts, *first), attribute=replace(repeated, body=new))


def same(first: Instruction, second: Instruction) -> bool:
    """Whether two instructions do the same with their operands."""
    return first is second or (
        (first.op, first.shape, len(first.operands)) == (second.op, second.shape, len(second.operands))
        and first.attribute == second.attribute
    )
