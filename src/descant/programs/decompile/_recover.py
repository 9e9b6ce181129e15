"""From weights back to the schedule: which places each factor of each head reads, and with which constants.

The description says which rectangles of H hold a value before and after every block. All else is read off the weights,
and put together again in the end: weights that do not come out the same were not made by the compiler.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...attention import ELSABlock, Repeated
from .._compiled import CompiledProgram
from .._describe import describe
from .._description import Description, Rectangle
from ..language import Body, Input, Traced
from ..schedule import Block, Head, Loop, Place, Schedule, Step
from ..weights import NAMES, Columns, Layout, Painter, Weights, link
from ._heads import BlockReader, Broken


@dataclass(frozen=True)
class Recovered:
    """A schedule and its columns: `link(schedule, layout)` are the weights that it was read from, bit for bit."""

    schedule: Schedule
    layout: Layout


def recover(compiled: CompiledProgram) -> Recovered:
    """The schedule of a compiled program; a `ValueError` says where weights are not those of a program."""
    recovery = _Recovery(compiled)
    try:
        found = recovery.run()
        again = link(found.schedule, found.layout)
        for number, (own, other) in enumerate(zip(recovery.weights, again, strict=True), 1):
            _same(own, other, number)
    except Broken as broken:
        raise ValueError(
            f"the weights of {compiled.description.program} are not those of a program: {broken}; a training keeps "
            "them so with --free coefficients or --free matrices."
        ) from None
    return found


def description_of(old: Description, schedule: Schedule, layout: Layout) -> Description:
    """The description of a schedule of the same program: its inputs, outputs and settings are those of the old one."""
    inputs = tuple(Input(each.name, (each.rows, each.width), each.optional) for each in old.inputs)
    names = tuple(each.name for each in old.outputs)
    return describe(Traced(old.program, inputs, names, Body((), ()), dict(old.settings)), schedule, layout)


class _Recovery:
    def __init__(self, compiled: CompiledProgram):
        self.compiled = compiled
        self.weights: list[Weights] = []
        self.places: list[Place] = []
        self.before: list[Columns] = []
        self.after: list[Columns] = []
        self.texts = iter(compiled.description.blocks)

    def run(self) -> Recovered:
        description = self.compiled.description
        inputs = {each.name: self._new(each) for each in description.inputs}
        start = {inputs[each.name]: each.column for each in description.inputs if each.column >= 0}
        steps, now = self._steps(self.compiled.network.blocks, start, None)
        outputs = tuple((each.name, self._at(now, each)) for each in description.outputs)
        schedule = Schedule(tuple(self.places), inputs, outputs, steps)
        layout = Layout(description.rows, description.columns, tuple(self.before), tuple(self.after))
        return Recovered(schedule, layout)

    def _steps(
        self, layers: Sequence[ELSABlock | Repeated], now: Columns, first: Columns | None
    ) -> tuple[tuple[Step, ...], Columns]:
        """`first` is where the body of a loop found everything: its last block puts it there again."""
        steps: list[Step] = []
        for index, layer in enumerate(layers):
            if isinstance(layer, ELSABlock):
                block, now = self._block(layer, now, first if index == len(layers) - 1 else None)
                steps.append(block)
            else:
                body, after = self._steps(layer.blocks, now, now)
                steps.append(Loop(layer.count, body, tuple(sorted(after))))
                now = after
        return tuple(steps), now

    def _block(self, layer: ELSABlock, now: Columns, first: Columns | None) -> tuple[Block, Columns]:
        text = next(self.texts)
        self.weights.append({name: np.asarray(getattr(layer, name), dtype=float) for name in NAMES})
        widest = max(sum(each.width for each in side) for side in (text.before, text.after))
        if widest > self.compiled.description.columns:
            raise Broken(f"the description has more values at block {len(self.weights)} than H has columns")
        before = {self._at(now, each): each.column for each in text.before}
        shapes = {place: self.places[place].shape for place in before}
        reader = BlockReader(self.weights[-1], before, shapes, f"block {len(self.weights)}")
        copied = [reader.copies(each.column, (each.rows, each.width)) for each in text.after]
        self.before.append(before)
        if first is None:
            block, after = self._between(reader, text.after, copied)
        else:
            # The last block of a loop's body puts everything where the body found it: no place gets new columns.
            places = [self._at(first, each) for each in text.after]
            after = {place: each.column for place, each in zip(places, text.after, strict=True)}
            kept = {place for place, source in zip(places, copied, strict=True) if place == source}
            block = self._read(reader, after, kept, after)
        self.after.append(after)
        return block, after

    def _read(self, reader: BlockReader, after: Columns, kept: set[int], fixed: Mapping[int, int]) -> Block:
        written = {place: column for place, column in after.items() if place not in kept}
        shapes = {place: self.places[place].shape for place in after}
        heads, carry = reader.heads(written, shapes), reader.carry(written, shapes)
        return Block(heads, carry, _in_order(written, fixed, heads), tuple(sorted(kept)))

    def _between(
        self, reader: BlockReader, rectangles: Sequence[Rectangle], copied: Sequence[int | None]
    ) -> tuple[Block, Columns]:
        """A block and the columns after it; what is elsewhere then was moved to make room, or is a copy of that name.

        Both are the same weights. It was moved if the compiler, which moves nothing without need, would have moved it.
        """
        old = list(self.places)
        ways: list[tuple[list[Place], Block, Columns]] = []
        for may_move in (True, False):
            self.places = list(old)
            after, kept = self._targets(reader, rectangles, copied, may_move)
            block = self._read(reader, after, kept, reader.before)
            ways.append((self.places, block, after))
            painter = Painter([place.shape[1] for place in self.places], self.compiled.description.columns)
            if painter.next(block, reader.before) == after:
                return block, after
        self.places, block, after = ways[0]
        return block, after

    def _targets(
        self, reader: BlockReader, rectangles: Sequence[Rectangle], copied: Sequence[int | None], may_move: bool
    ) -> tuple[Columns, set[int]]:
        """Which place each rectangle is after a block, and which of them are as they were."""
        stay: Columns = {}
        for each, source in zip(rectangles, copied, strict=True):
            # Of a value and its copy, the one that did not move is the value.
            moved = source is not None and reader.before[source] != each.column
            if source is not None and self._named(each, source) and not (moved and source in stay):
                stay[source] = each.column
        # Values move together or not at all: packed to the left, in their order.
        ordered = sorted(stay, key=lambda place: reader.before[place])
        widths = [self.places[place].shape[1] for place in ordered]
        packed = may_move and all(stay[place] == sum(widths[:index]) for index, place in enumerate(ordered))
        kept = stay if packed else {place: column for place, column in stay.items() if reader.before[place] == column}
        after: Columns = {}
        for each, source in zip(rectangles, copied, strict=True):
            own = source if source is not None and kept.get(source) == each.column else None
            after[self._rewritten(reader, each, kept) if own is None else own] = each.column
        return after, set(kept)

    def _rewritten(self, reader: BlockReader, each: Rectangle, kept: Columns) -> int:
        """The place whose columns, shape and name a new value takes over, or a new place."""
        for place, column in reader.before.items():
            if place not in kept and column == each.column and self._named(each, place):
                return place
        return self._new(each)

    def _named(self, each: Rectangle, place: int) -> bool:
        return (self.places[place].name, self.places[place].shape) == (each.name, (each.rows, each.width))

    def _new(self, each: Rectangle) -> int:
        self.places.append(Place(len(self.places), each.name, (each.rows, each.width)))
        return len(self.places) - 1

    def _at(self, now: Columns, each: Rectangle) -> int:
        for place, column in now.items():
            if column == each.column and self.places[place].shape == (each.rows, each.width):
                return place
        raise Broken(f"the description has {each.name} in column {each.column}, where nothing is")


def _in_order(written: Columns, fixed: Mapping[int, int], heads: tuple[Head, ...]) -> tuple[int, ...]:
    """New places in the order in which they got their columns, those with fixed ones among them as heads write them."""
    first = {write.place: index for index, head in reversed([*enumerate(heads)]) for write in head.values}
    rewritten = sorted((first.get(place, -1), column, place) for place, column in written.items() if place in fixed)
    order = [place for turn, _, place in rewritten if turn < 0]
    order += [place for place in written if place not in fixed]
    for turn, _, place in rewritten:
        if turn >= 0:
            later = (index for index, other in enumerate(order) if first.get(other, -1) > turn)
            order.insert(next(later, len(order)), place)
    return tuple(order)


def _same(own: Weights, again: Weights, number: int) -> None:
    for name, what in zip(NAMES, ("key", "value", "query") * 2, strict=True):
        if own[name].shape != again[name].shape:
            raise Broken(f"block {number} has {own[name].shape[0]} heads where a program has {again[name].shape[0]}")
        differ = np.argwhere(own[name] != again[name])
        if len(differ):
            head, row, column = differ[0]
            kind = "weights" if name[0] == "w" else "biases"
            raise Broken(
                f"{len(differ)} of the {kind} of the {what} in block {number} are where no value is, the first in "
                f"head {head + 1}, row {row}, column {column}"
            )
