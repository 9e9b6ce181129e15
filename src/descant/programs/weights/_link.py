"""From places and columns to weights: each factor H W + B of each head, written out."""

import numpy as np

from ..schedule import Block, Head, Reading, Schedule
from ._layout import Columns, Layout

# The arrays of a head, as its fields are called.
NAMES = ("w1", "w2", "w3", "b1", "b2", "b3")
# The arrays of one head, or of all heads of a block, by name.
Weights = dict[str, np.ndarray]


def link(schedule: Schedule, layout: Layout) -> list[Weights]:
    """The weights of every block, by the names that `ELSABlock` has for them: w1 key, w2 value, w3 query."""
    found = []
    for index, block in enumerate(schedule.blocks()):
        linker = _Linker(schedule, layout, layout.before[index], layout.after[index])
        heads = linker.block(block)
        found.append({name: np.stack([head[name] for head in heads]) for name in NAMES})
    return found


class _Linker:
    def __init__(self, schedule: Schedule, layout: Layout, before: Columns, after: Columns):
        self.schedule, self.before, self.after = schedule, before, after
        self.rows, self.columns = layout.rows, layout.columns

    def block(self, block: Block) -> list[Weights]:
        heads = [part for head in block.heads for part in self._head(head)]
        if block.carry or block.kept or not heads:
            heads.insert(0, self._carry(block))
        return heads

    def _carry(self, block: Block) -> Weights:
        """H times a constant, plus a constant; the smaller of the two identities is the one that fits."""
        weight, bias = np.zeros((self.columns, self.columns)), np.zeros((self.rows, self.columns))
        for place in block.kept:
            width = self.schedule.places[place].shape[1]
            self._add(weight, bias, Reading((self.rows, width), ((place, np.eye(width)),)), self.after[place])
        for write in block.carry:
            self._add(weight, bias, write.reading, self.after[write.place])
        eye, none = np.eye(self.rows, self.columns), np.zeros((self.columns, self.columns))
        if self.rows >= self.columns:
            return {"w3": weight, "b3": bias, "w1": none, "b1": eye, "w2": none, "b2": eye}
        return {"w3": none, "b3": eye, "w1": none, "b1": eye, "w2": weight, "b2": bias}

    def _head(self, head: Head) -> list[Weights]:
        """One head, or several if the sum over slots is longer than H is wide."""
        found = []
        for start in range(0, head.slots, self.columns):
            some = np.eye(head.slots)[:, start : start + self.columns]
            weights = self._empty()
            self._add(weights["w3"], weights["b3"], head.query.times(some), 0)
            self._add(weights["w1"], weights["b1"], head.key.times(some), 0)
            for write in head.values:
                self._add(weights["w2"], weights["b2"], write.reading, self.after[write.place])
            found.append(weights)
        return found

    def _add(self, weight: np.ndarray, bias: np.ndarray, reading: Reading, column: int) -> None:
        width = reading.shape[1]
        for place, right in reading.terms:
            start = self.before[place]
            weight[start : start + right.shape[0], column : column + width] += right
        if reading.constant is not None:
            bias[: reading.shape[0], column : column + width] += reading.constant

    def _empty(self) -> Weights:
        shapes = {"w": (self.columns, self.columns), "b": (self.rows, self.columns)}
        return {name: np.zeros(shapes[name[0]]) for name in NAMES}
