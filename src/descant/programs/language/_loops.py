"""Loops of both front ends: whole bounds, bounded counts, and which names hold which matrices."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _trace
from ._errors import ProgramError
from ._limits import take_steps
from ._matrix import Matrix
from ._trace import Trace


def loop(trace: Trace, bounds: tuple, names: Callable[[], Mapping[str, Any]]) -> Iterator[int]:
    """Run through a range on the record; `names` gives all names of the program at a boundary."""
    indices = _checked_range(bounds)
    # An iteration counts like a recorded operation; every boundary keeps a list of the names.
    take_steps(trace, 4 * len(indices) * (1 + len(names()) // 50))
    yield from trace.loop(indices, lambda: addresses(names()))


def addresses(names: Mapping[str, Any]) -> dict[str, int]:
    """Which names hold matrices, and which ones."""
    return {name: value.address for name, value in names.items() if isinstance(value, Matrix)}


def _checked_range(bounds: tuple) -> range:
    if not 1 <= len(bounds) <= 3:
        raise ProgramError(f"range with {len(bounds)} arguments", "it takes one to three whole numbers")
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, int):
            words = f"{bound!r}" if isinstance(bound, (int, float)) else "no number"
            raise ProgramError(f"a bound of range is {words}", "expected a whole number known when compiling")
    if len(bounds) == 3 and bounds[2] == 0:
        raise ProgramError("a range with step 0", "expected another step")
    indices = range(*bounds)
    # Python can't say the length of a range that is longer than its largest index.
    if indices and (indices[-1] - indices[0]) // indices.step >= _trace.LONGEST:
        raise ProgramError(f"a loop of more than {_trace.LONGEST} iterations", "lower its count")
    return indices
