"""From schedule and layout to words: the same facts as the weights, for people."""

from collections import Counter
from dataclasses import replace

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
        self.begun: set[int] = set()  # places that a head of this block has written to

    def block(self, block: Block, layout: Layout) -> tuple[HeadText, ...]:
        writers = Counter([write.place for head in block.heads for write in head.values])
        writers.update(write.place for write in block.carry)
        self.begun = set()
        heads = []
        if block.carry or block.kept or not block.heads:
            heads.append(self._carry(block, writers))
        for head in block.heads:
            parts = -(-head.slots // layout.columns)
            heads += [self._head(head, (part, parts)) for part in range(1, parts + 1)]
        # What nobody adds anything to is zero.
        lines = [f"{self._name(place)} ← 0" for place in block.writes if not writers[place]]
        heads[0] = replace(heads[0], formula="; ".join(filter(None, [heads[0].formula, *lines])))
        return tuple(heads)

    def _carry(self, block: Block, writers: Counter[int]) -> HeadText:
        still = [
            write.place
            for write in block.carry
            if write.reading.places == {write.place}
            and writers[write.place] == 1
            and self._reading(write.reading) == self._name(write.place)
        ]
        kept = [self._name(place) for place in (*block.kept, *still)]
        lines = [
            f"{self._name(write.place)} {self._arrow(write.place)} {self._reading(write.reading)}"
            for write in block.carry
            if write.place not in still
        ]
        formula = "; ".join(([f"keep {', '.join(kept)}"] if kept else []) + lines)
        reads = set(block.kept).union(*(write.reading.places for write in block.carry))
        writes = [*block.kept, *(write.place for write in block.carry)]
        names = tuple(self._name(place) for place in sorted(reads))
        to = tuple(self._name(place) for place in writes)
        return HeadText("H", "I", "moves", ", ".join(to), formula, names, to)

    def _head(self, head: Head, part: tuple[int, int]) -> HeadText:
        query, key = self._reading(head.query), self._reading(head.key)
        values = [self._reading(write.reading) for write in head.values]
        to = tuple(self._name(write.place) for write in head.values)
        lines = []
        number, parts = part
        # A sum over more columns than H has is divided among several heads.
        share = f", part {number} of {parts}" if parts > 1 else ""
        for write, name, value in zip(head.values, to, values, strict=True):
            lines.append(f"{name} {self._arrow(write.place)} {_product(query, key, value)}{share}")
        reads = tuple(self._name(place) for place in sorted(head.reads))
        return HeadText(query, key, ", ".join(values), ", ".join(to), "; ".join(lines), reads, to)

    def _arrow(self, place: int) -> str:
        """A block has no residual: the first head that writes to a place replaces what it held, the others add."""
        first = place not in self.begun
        self.begun.add(place)
        return "←" if first else "+="

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
    """query keyᵀ value, without those that are the identity."""
    return " · ".join(part for part in (_bracketed(query), _transposed(key), _bracketed(value)) if part != "I") or "I"


def _bracketed(text: str) -> str:
    """A factor of a product: sums, multiples and products with a constant have brackets."""
    return text if _is_name(text) else f"({text})"


def _transposed(text: str) -> str:
    if text == "I":
        return text
    if _is_name(text) and text.endswith("ᵀ"):
        return text.removesuffix("ᵀ")
    return f"{_bracketed(text)}ᵀ"


def _is_name(text: str) -> bool:
    """One name, perhaps with its own ᵀ at the end: nothing that binds less than a transpose does."""
    return not set(text) & set(" ·−") and "ᵀ" not in text[:-1]


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
