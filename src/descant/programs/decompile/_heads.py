"""The heads of one block, read off its weights."""

from collections.abc import Mapping

import numpy as np

from ..schedule import Head, Reading, Write
from ..weights import Weights

Shape = tuple[int, int]


class Broken(Exception):
    """Where weights are not those of a program, in words."""


class BlockReader:
    """Readings of one block, given the first columns and the shapes of the places that are in H before it."""

    def __init__(self, weights: Weights, before: Mapping[int, int], shapes: Mapping[int, Shape], where: str):
        self.weights, self.before, self.shapes, self.where = weights, before, shapes, where
        self.rows, self.columns = weights["b1"].shape[1:]
        # The head that carries is the first one, if there is one: H times a constant, plus a constant.
        self.moving = ("w3", "b3") if self.rows >= self.columns else ("w2", "b2")
        self.carries = _is_carry(weights, self.moving[0])
        self.own = range(1 if self.carries else 0, weights["w1"].shape[0])

    def copies(self, column: int, shape: Shape) -> int | None:
        """The place that is found again, as it was, in these columns after the block; None if something is computed."""
        stop = column + shape[1]
        if not self.carries or any(self._writes(head, column, stop) for head in self.own):
            return None
        weight, bias = (self.weights[name][0, :, column:stop] for name in self.moving)
        for place, start in self.before.items():
            rows = slice(start, start + self.shapes[place][1])
            if self.shapes[place] == shape and np.array_equal(weight[rows], np.eye(shape[1])):
                return place if np.count_nonzero(weight) == shape[1] and not bias.any() else None
        return None

    def heads(self, targets: Mapping[int, int], shapes: Mapping[int, Shape]) -> tuple[Head, ...]:
        """The heads that multiply; `targets` are the places that are written, with their first columns."""
        return tuple(self._head(head, targets, shapes) for head in self.own)

    def carry(self, targets: Mapping[int, int], shapes: Mapping[int, Shape]) -> tuple[Write, ...]:
        """What the head that carries adds to the places that are written."""
        found = []
        for place, column in targets.items() if self.carries else ():
            rows, width = shapes[place]
            reading = self._reading(0, self.moving, slice(column, column + width), rows, "what is carried")
            if reading.terms or reading.constant is not None:
                found.append(Write(place, reading))
        return tuple(found)

    def _head(self, head: int, targets: Mapping[int, int], shapes: Mapping[int, Shape]) -> Head:
        where = f"{self.where}, head {head + 1}"
        written = {p: c for p, c in targets.items() if self._writes(head, c, c + shapes[p][1])}
        if len({shapes[place][0] for place in written}) != 1:
            raise Broken(f"{where} writes to {'values of different heights' if written else 'no value that lives'}")
        rows = shapes[next(iter(written))][0]
        used = np.concatenate([self.weights[name][head] for name in ("w3", "b3", "w1", "b1")]).any(axis=0)
        slots = slice(0, int(np.flatnonzero(used)[-1]) + 1 if used.any() else 1)
        inner = self._inner_rows(head, where)
        query = self._reading(head, ("w3", "b3"), slots, rows, f"the query of {where}")
        key = self._reading(head, ("w1", "b1"), slots, inner, f"the key of {where}")
        values = tuple(
            Write(p, self._reading(head, ("w2", "b2"), slice(c, c + shapes[p][1]), inner, f"the value of {where}"))
            for p, c in written.items()
        )
        return Head(query, key, values)

    def _inner_rows(self, head: int, where: str) -> int:
        """The height of what key and value read; of constants alone, that of their last row."""
        read = {
            self.shapes[place][0]
            for place, start in self.before.items()
            if any(self.weights[name][head, start : start + self.shapes[place][1]].any() for name in ("w1", "w2"))
        }
        if len(read) > 1:
            raise Broken(f"key and value of {where} read values of different heights")
        biases = np.concatenate([self.weights[name][head] for name in ("b1", "b2")], axis=1).any(axis=1)
        return read.pop() if read else (int(np.flatnonzero(biases)[-1]) + 1 if biases.any() else 1)

    def _reading(self, head: int, names: tuple[str, str], columns: slice, rows: int, what: str) -> Reading:
        weight, bias = (self.weights[name][head, :, columns] for name in names)
        terms = []
        for place, start in self.before.items():
            right = weight[start : start + self.shapes[place][1]]
            if right.any():
                if self.shapes[place][0] != rows:
                    raise Broken(f"{what} reads a value of {self.shapes[place][0]} rows where {rows} are expected")
                terms.append((place, right))
        constant = bias[:rows] if bias[:rows].any() else None
        return Reading((rows, weight.shape[1]), tuple(sorted(terms, key=lambda term: term[0])), constant)

    def _writes(self, head: int, start: int, stop: int) -> bool:
        return any(self.weights[name][head, :, start:stop].any() for name in ("w2", "b2"))


def _is_carry(weights: Weights, moving: str) -> bool:
    """Whether the first head is H times a constant: two of its factors are identities, as wide as H."""
    eye = np.eye(*weights["b1"].shape[1:])
    still = [number for number in "123" if f"w{number}" != moving]
    return all(not weights[f"w{n}"][0].any() and np.array_equal(weights[f"b{n}"][0], eye) for n in still)
