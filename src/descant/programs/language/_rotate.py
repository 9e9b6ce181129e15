"""Rewrites a loop whose iterations differ in their index alone, so that they all do the same."""

from dataclasses import replace

from . import _coefficients, _windows, _writes
from ._index import Indexed
from ._lift import lifted
from ._repeat import Differs, Iterations, Tape, Workshop, repeat, same


def rotated(loop: Iterations, workshop: Workshop, *, ahead: bool) -> Tape:
    """The loop as a repeat between what is done before and after; `Differs` if it is none even so."""
    first, *others = loop.tapes
    if any(len(tape) != len(first) for tape in others):
        raise Differs
    if any(line.op != tape[index][1].op for index, (_, line) in enumerate(first) for tape in others):
        raise Differs
    loop = lifted(replace(loop, read_after=set(loop.read_after)), workshop)
    work = Indexed(loop, workshop, ahead)
    changing: dict[str, list[int]] = {}
    for index, (_, line) in enumerate(loop.tapes[0]):
        versions = work.versions(index)
        if any(line.shape != each.shape for each in versions):
            raise Differs
        if not all(same(line, each) for each in versions):
            changing.setdefault(line.op, []).append(index)
    if not changing or not changing.keys() <= {"slice", "place", "scale", "constant"}:
        raise Differs
    done, after = _writes.written(work, changing.get("place", []))
    _windows.read(work, [index for index in changing.get("slice", []) if index not in done])
    _coefficients.scales(work, changing.get("scale", []))
    _coefficients.constants(work, changing.get("constant", []))
    return work.before + repeat(work.finished(work.loop.read_after | after), workshop) + work.after
