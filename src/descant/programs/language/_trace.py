"""The record that a front end makes: every operation as it happens, loops with their boundaries.

Loops are recorded iteration by iteration, exactly as they run; `roll` finds afterwards which of them do the same thing
each time. So an index that enters a coefficient, or a list that a Python function keeps, can never be misread.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ._errors import Position, ProgramError
from ._instructions import Instruction, Shape

LONGEST = 300_000

_active: ContextVar["Trace"] = ContextVar("active trace")


@dataclass
class LoopRecord:
    """Where the iterations of a loop begin, and which names held which values there; the last entries are its end."""

    starts: list[int] = field(default_factory=list)
    names: list[dict[str, int]] = field(default_factory=list)


class Trace:
    """Instructions and loops of one run of a program on symbols."""

    def __init__(self, where: Callable[[], Position | None]):
        self.instructions: list[Instruction] = []
        self.loops: list[LoopRecord] = []
        self.spent: Counter[str] = Counter()  # of what `_limits` allows
        self._where = where
        # Iterations count as steps too: a loop with nothing in it takes its time all the same.
        self._steps = 0

    def add(self, op: str, operands: tuple[int, ...], shape: Shape, attribute: Any = None) -> int:
        """Record an operation; the address of its value."""
        self._step()
        self.instructions.append(Instruction(op, operands, shape, attribute, position=self._where()))
        return len(self.instructions) - 1

    def loop(self, indices: range, names: Callable[[], Mapping[str, int]]) -> Iterator[int]:
        """Run through the indices, noting at each boundary which matrices the program's names hold."""
        record = LoopRecord()
        if indices[LONGEST:]:  # the length of a range may be more than Python can say
            self._step(LONGEST)
        for index in indices:
            self._step()
            self._mark(record, names)
            yield index
        self._mark(record, names)
        # A loop that is left by `break` never comes here, and stays as it ran; one that did nothing is no loop.
        if record.starts[0] < record.starts[-1]:
            self.loops.append(record)

    def _step(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > LONGEST:
            raise ProgramError(
                f"the program takes more than {LONGEST} steps when its loops are run", "lower the counts of its loops"
            )

    def _mark(self, record: LoopRecord, names: Callable[[], Mapping[str, int]]) -> None:
        record.starts.append(len(self.instructions))
        record.names.append(dict(names()))


def active() -> Trace:
    """The trace under way."""
    try:
        return _active.get()
    except LookupError:
        raise ProgramError(
            "eye, zeros, ones, constant, hstack and vstack were called outside of a program",
            "call them in a function that is marked with @program",
        ) from None


@contextmanager
def recording(trace: Trace) -> Iterator[None]:
    """Make a trace the one that `eye`, `zeros` and the like write to."""
    token = _active.set(trace)
    try:
        yield
    finally:
        _active.reset(token)
