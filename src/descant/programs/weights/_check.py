"""The proof that a compiled network does what its schedule says, for all inputs.

Which entries of H can be different from zero is known before every block: the rectangles of the places. From that, and
from which of the finished weights are zero, follows which entries can be different from zero after the block.
"""

import numpy as np

from ..schedule import Reading, Schedule, mixes_generations, unstable_loops
from ._layout import Columns, Layout
from ._link import Weights


class CompilerError(RuntimeError):
    """A condition does not hold: a mistake of the compiler, not of the program."""


def check(schedule: Schedule, layout: Layout, weights: list[Weights]) -> int:
    """Prove the conditions of the primitives; the number of heads that they were proved for.

    1. Every place has its columns to itself, lies inside H and begins in the first row.
    2. Every factor of a head reads places of its own height, so no row of another value takes part in a sum.
    3. No block leaves anything outside of the places that are alive after it: there is no junk.
    4. Columns that no place owns are not read: their weights are zero.
    5. A loop that carries a value twice doesn't mix the copies: their difference can't grow, however often it runs. Nor
       do many blocks one after the other.
    """
    _require(not unstable_loops(schedule), "a loop mixes two copies of a value")
    _require(not mixes_generations(schedule), "blocks mix copies of values, again and again")
    heads = 0
    for index, block in enumerate(schedule.blocks()):
        before, after = layout.before[index], layout.after[index]
        where = f"block {index}"
        owned, allowed = (_rectangles(schedule, layout, columns, where) for columns in (before, after))
        for head in block.heads:
            for reading in (head.query, head.key, *(write.reading for write in head.values)):
                _heights(schedule, reading, where)
            rows = {write.reading.shape[0] for write in head.values}
            _require(rows == {head.key.shape[0]}, f"{where}: key and value have different rows")
            for write in head.values:
                shape = (head.query.shape[0], write.reading.shape[1])
                _require(shape == schedule.places[write.place].shape, f"{where}: a product does not fill its place")
        for write in block.carry:
            _heights(schedule, write.reading, where)
        _require(set(after) == set(block.kept) | set(block.writes), f"{where}: what is alive is not what is laid out")
        _no_junk(weights[index], owned, allowed, where)
        heads += weights[index]["w1"].shape[0]
    return heads


def _rectangles(schedule: Schedule, layout: Layout, columns: Columns, where: str) -> np.ndarray:
    owned = np.zeros((layout.rows, layout.columns), dtype=int)
    taken = np.zeros(layout.columns, dtype=int)
    for place, start in columns.items():
        rows, width = schedule.places[place].shape
        inside = rows <= layout.rows and start >= 0 and start + width <= layout.columns
        _require(inside, f"{where}: {schedule.places[place].name} does not lie in H")
        owned[:rows, start : start + width] = 1
        taken[start : start + width] += 1
    _require(bool((taken <= 1).all()), f"{where}: two places share a column")
    return owned > 0


def _heights(schedule: Schedule, reading: Reading, where: str) -> None:
    for place, right in reading.terms:
        rows, width = schedule.places[place].shape
        fits = rows == reading.shape[0] and right.shape == (width, reading.shape[1])
        _require(fits, f"{where}: {schedule.places[place].name} is read with the wrong shape")


def _no_junk(weights: Weights, owned: np.ndarray, allowed: np.ndarray, where: str) -> None:
    empty = ~owned.any(axis=0)
    for name in ("w1", "w2", "w3"):
        _require(not weights[name][:, empty].any(), f"{where}: columns that nobody owns are read")
    possible = np.zeros(allowed.shape, dtype=bool)
    for head in range(weights["w1"].shape[0]):
        query, key, value = (
            (owned @ (weights[w][head] != 0)) | (weights[b][head] != 0)
            for w, b in (("w3", "b3"), ("w1", "b1"), ("w2", "b2"))
        )
        possible |= query @ (key.T @ value)
    _require(not (possible & ~allowed).any(), f"{where}: something is left outside of the places that are alive")


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise CompilerError(sentence + "; please report this program.")
