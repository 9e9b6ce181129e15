"""Which rectangle of a matrix an index means: `X[2:4, :]`, `X[t]`, `X[-1, 0]`."""

from typing import Any

import numpy as np

from ._errors import ProgramError
from ._instructions import Shape
from ._scalars import kind

Rectangle = tuple[int, int, int, int]


def rectangle(key: Any, shape: Shape) -> Rectangle:
    """First and last row, first and last column, ends excluded. A single index is a row or a column of its own."""
    keys = key if isinstance(key, tuple) else (key, slice(None))
    if len(keys) != 2:
        raise ProgramError(f"an index with {len(keys)} parts", "a matrix has rows and columns, X[i, j]")
    return (*_bounds(keys[0], shape[0], "rows"), *_bounds(keys[1], shape[1], "columns"))


def _bounds(key: Any, full: int, what: str) -> tuple[int, int]:
    if not isinstance(key, slice):
        index = _whole(key, what)
        if not -full <= index < full:
            reason = f"the index {kind(index)} for {full} {what}"
            raise ProgramError(reason, f"it must lie between {-full} and {full - 1}")
        first = index % full
        return first, first + 1
    start, stop, step = (None if bound is None else _whole(bound, what) for bound in (key.start, key.stop, key.step))
    if step not in (None, 1):
        raise ProgramError(f"a slice of {what} with step {kind(step)}", "only runs of neighbours can be taken")
    first = 0 if start is None else start + full * (start < 0)
    last = full if stop is None else stop + full * (stop < 0)
    if not 0 <= first < last <= full:
        raise ProgramError(
            f"a slice from {kind(first)} to {kind(last)} of {full} {what}", "it must lie inside and hold at least one"
        )
    return first, last


def _whole(bound: Any, what: str) -> int:
    if isinstance(bound, bool) or not isinstance(bound, (int, np.integer)):
        raise ProgramError(f"{kind(bound)} as an index for {what}", "indices are whole numbers known when compiling")
    return int(bound)
