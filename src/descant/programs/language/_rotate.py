"""Loops whose iterations differ in their index alone: rewritten so that all do the same, or each run once."""

from collections.abc import Mapping
from dataclasses import replace

from . import _coefficients, _windows, _writes
from ._index import Indexed
from ._instructions import Instruction
from ._lift import lifted
from ._repeat import Differs, Iterations, Tape, Workshop, repeat, same


def rotated(loop: Iterations, workshop: Workshop, *, ahead: bool) -> Tape:
    """The loop as a repeat between what is done before and after; `Differs` if it is none even so."""
    _check_alike(loop)
    loop = lifted(replace(loop, read_after=set(loop.read_after)), workshop)
    work = Indexed(loop, workshop, ahead)
    changing = _changing(loop)
    if not changing or not changing.keys() <= {"slice", "place", "scale", "constant"}:
        raise Differs
    done, after = _writes.written(work, changing.get("place", []))
    _windows.read(work, [index for index in changing.get("slice", []) if index not in done])
    _coefficients.scales(work, changing.get("scale", []))
    _coefficients.constants(work, changing.get("constant", []))
    return work.before + repeat(work.finished(work.loop.read_after | after), workshop) + work.after


def each_once(loop: Iterations, workshop: Workshop) -> Tape:
    """A loop in whose iterations only numbers differ, each of them as a repeat that is run once.

    So what none of the iterations changes is something that a loop doesn't change, and can be stored before it.
    """
    _check_alike(loop)
    if not _changing(loop).keys() <= {"scale", "constant"}:
        raise Differs
    loop = _handed_on(loop, workshop)
    read_later, found = set(loop.read_after), []
    for index in reversed(range(len(loop.tapes))):
        tape = loop.tapes[index]
        made = {address for address, _ in tape}
        found.append(repeat(Iterations([tape], loop.names[index : index + 2], read_later & made), workshop))
        read_later |= {operand for _, line in tape for operand in line.operands}
    return [entry for tape in reversed(found) for entry in tape]


def _handed_on(loop: Iterations, workshop: Workshop) -> Iterations:
    """With a line for every value that goes from one name to another and is read later: the iteration hands it on.

    Otherwise it would be kept beside the iteration, in a copy. A value that no later iteration reads may be nowhere.
    """
    read_last = {
        operand: index for index, tape in enumerate(loop.tapes) for _, line in tape for operand in line.operands
    }
    now: dict[int, int] = {}
    tapes: list[Tape] = []
    names: list[Mapping[str, int]] = [loop.names[0]]
    for index, (old, after) in enumerate(zip(loop.tapes, loop.names[1:], strict=True)):
        tape = [(address, replace(line, operands=_renamed(line.operands, now))) for address, line in old]
        made = {address for address, _ in tape}
        for name, address in after.items():
            value = now.get(address, address)
            if read_last.get(address, -1) > index and value not in made and value != names[-1].get(name, value):
                shape = workshop.shapes[value]
                now[address] = workshop.new(tape, Instruction("slice", (value,), shape, (0, shape[0], 0, shape[1])))
                made.add(now[address])
        tapes.append(tape)
        names.append(dict(zip(after, _renamed(tuple(after.values()), now), strict=True)))
    return Iterations(tapes, names, loop.read_after)


def _renamed(addresses: tuple[int, ...], now: dict[int, int]) -> tuple[int, ...]:
    return tuple(now.get(address, address) for address in addresses)


def _check_alike(loop: Iterations) -> None:
    """Whether all iterations consist of the same operations on values of the same shapes."""
    first, *others = ([(line.op, line.shape) for _, line in tape] for tape in loop.tapes)
    if any(each != first for each in others):
        raise Differs


def _changing(loop: Iterations) -> dict[str, list[int]]:
    """The lines that are not the same in all iterations, by operation."""
    found: dict[str, list[int]] = {}
    for index, (_, line) in enumerate(loop.tapes[0]):
        if not all(same(line, tape[index][1]) for tape in loop.tapes):
            found.setdefault(line.op, []).append(index)
    return found
