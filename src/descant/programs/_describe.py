"""From schedule and layout to words: the same facts as the weights, for people."""

from collections import Counter

import numpy as np

from ._description import BlockText, Description, HeadText, Rectangle
from .language import Traced
from .schedule import Block, Head, Reading, Schedule
from .weights import Layout


def describe(traced: Traced, schedule: Schedule, layout: Layout) -> Description:
    """All that `explain` needs, and where inputs and outputs are."""
    blocks = []
    for index, block in enumerate(schedule.blocks()):
        before, after = (
            tuple(_rectangle(schedule, place, column) for place, column in columns.items())
            for columns in (layout.before[index], layout.after[index])
        )
        blocks.append(BlockText(before, after, _Describer(schedule).block(block, layout)))
    optional = {each.name: each.optional for each in traced.inputs}
    inputs = tuple(
        Rectangle(name, *schedule.places[place].shape, layout.start.get(place, -1), optional[name])
        for name, place in schedule.inputs.items()
    )
    outputs = tuple(
        Rectangle(name, *schedule.places[place].shape, layout.end[place]) for name, place in schedule.outputs
    )
    settings = tuple((name, value) for name, value in traced.settings.items())
    return Description(traced.name, settings, layout.rows, layout.columns, inputs, outputs, tuple(blocks))


def _rectangle(schedule: Schedule, place: int, column: int) -> Rectangle:
    return Rectangle(schedule.places[place].name, *schedule.places[place].shape, column)


class _Describer:
    def __init__(self, schedule: Schedule):
        self.schedule = schedule

    def block(self, block: Block, layout: Layout) -> tuple[HeadText, ...]:
        heads = []
        if block.carry or block.kept:
            heads.append(self._carry(block))
        writers = Counter([write.place for head in block.heads for write in head.values])
        writers.update(write.place for write in block.carry)
        for head in block.heads:
            parts = -(-head.slots // layout.columns)
            heads += [self._head(head, writers)] * parts
        return tuple(heads)

    def _carry(self, block: Block) -> HeadText:
        still = [
            write.place
            for write in block.carry
            if write.reading.places == {write.place} and self._reading(write.reading) == self._name(write.place)
        ]
        kept = [self._name(place) for place in (*block.kept, *still)]
        lines = [
            f"{self._name(write.place)} ← {self._reading(write.reading)}"
            for write in block.carry
            if write.place not in still
        ]
        formula = "; ".join(([f"keep {', '.join(kept)}"] if kept else []) + lines)
        reads = set(block.kept).union(*(write.reading.places for write in block.carry))
        writes = [*block.kept, *(write.place for write in block.carry)]
        names = tuple(self._name(place) for place in sorted(reads))
        to = tuple(self._name(place) for place in writes)
        return HeadText("H", "I", "moves", ", ".join(to), formula, names, to)

    def _head(self, head: Head, writers: Counter[int]) -> HeadText:
        query, key = self._reading(head.query), self._reading(head.key)
        values = [self._reading(write.reading) for write in head.values]
        to = tuple(self._name(write.place) for write in head.values)
        lines = []
        for write, name, value in zip(head.values, to, values, strict=True):
            # A place that several heads write to gets their sum.
            sign = "←" if writers[write.place] == 1 else "+="
            lines.append(f"{name} {sign} {_product(query, key, value)}")
        reads = tuple(self._name(place) for place in sorted(head.reads))
        return HeadText(query, key, ", ".join(values), ", ".join(to), "; ".join(lines), reads, to)

    def _name(self, place: int) -> str:
        return self.schedule.places[place].name

    def _reading(self, reading: Reading) -> str:
        text = ""
        for place, right in reading.terms:
            number, rest = _factor(right)
            size = "" if abs(number) == 1 else f"{abs(number):.4g} "
            sign = ("−" if number < 0 else "") if not text else (" − " if number < 0 else " + ")
            text += f"{sign}{size}{self._name(place)}{rest}"
        if reading.constant is not None and reading.constant.any():
            number, name = _constant(reading.constant)
            size = "" if abs(number) == 1 else f"{abs(number):.4g} "
            sign = ("−" if number < 0 else "") if not text else (" − " if number < 0 else " + ")
            text += f"{sign}{size}{name}"
        return text or "0"


def _product(query: str, key: str, value: str) -> str:
    parts = []
    for text, transposed in ((query, False), (key, True), (value, False)):
        if text == "I":
            continue
        simple = " " not in text and not text.startswith("−")
        shown = text if simple and not text.endswith("ᵀ") else f"({text})"
        if transposed and text.endswith("ᵀ") and simple:
            shown, transposed = text[:-1], False
        parts.append(f"{shown}ᵀ" if transposed else (text if simple else shown))
    return " · ".join(parts) or "I"


def _factor(right: np.ndarray) -> tuple[float, str]:
    """A multiple and what follows the name: nothing, a slice, or a constant."""
    if right.shape[0] == right.shape[1] and right[0, 0] != 0:
        number = float(right[0, 0])
        if np.array_equal(right, number * np.eye(right.shape[0])):
            return number, ""
    return 1.0, "·C"


def _constant(array: np.ndarray) -> tuple[float, str]:
    number = float(array[0, 0])
    if array.shape[0] == array.shape[1] and number != 0 and np.array_equal(array, number * np.eye(array.shape[0])):
        return number, "I"
    return 1.0, "C"
