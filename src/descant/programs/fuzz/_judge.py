"""Is the network the program? One program through the compiler, and its results against what its text means.

An output may be wrong by as much as float64 could make it wrong if it rounded `MULTIPLE` times as much: by the spread
of runs that are shaken so (see `_arithmetic`). What that comparison is worth depends on the output, and is said:

- sharp: the tolerance is less than a millionth of the output's largest entry;
- absolute: the output is nothing but rounding, X - X say, or powers of a matrix that should be zero; yet the tolerance
  is less than a millionth of the largest value on the way, so a result that is not as small is seen;
- vacuous: the program itself amplifies rounding, or overflows, until nothing is left to compare with.
"""

import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._collector import uncollected
from .._compile import compile_traced
from ..language import Program, ProgramError
from ._arithmetic import MULTIPLE, UNIT
from ._limit import TooSlow, limited
from ._written import Meaning, Written, meaning

SHARP = 1e-6
# Beyond this a product of a few factors leaves float64.
LARGEST = 1e80
SMALLEST = 1e-280
SECONDS = 10.0
SCALES = (1.0, 2.0, 0.5, 4.0)
OTHER_WAYS = {0: {"hoist": False}, 1: {"prefer": "depth"}, 2: {"prefer": "width"}, 3: {"prefer": "parameters"}}


@dataclass(frozen=True)
class Comparison:
    """One output: how wrong it is, how wrong it may be, its largest entry, and the largest value on the way to it."""

    name: str
    error: float
    tolerance: float
    size: float
    largest: float

    @property
    def worth(self) -> str:
        """What equality says: see above."""
        if not (self.largest < LARGEST and self.tolerance <= SHARP * self.largest):
            return "vacuous"
        return "sharp" if self.tolerance <= SHARP * self.size else "absolute"

    @property
    def wrong(self) -> bool:
        """Whether it is not what the program says."""
        return self.worth != "vacuous" and not self.error <= self.tolerance


@dataclass(frozen=True)
class Verdict:
    """How a program ended: equal, refused, wrong, traceback or slow; with a sentence where there is one to say.

    `seconds` is the longest that one step took, in this process's own time: to compile a network of it, or to run one.
    What the program means is computed beside that, and not counted.
    """

    outcome: str
    sentence: str = ""
    networks: int = 0
    comparisons: tuple[Comparison, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the compiler is to blame."""
        return self.outcome in ("wrong", "traceback", "slow")


def judge(written: Written, *, under_jax: bool = False, seconds: float = SECONDS) -> Verdict:
    """Compile a program in one way or two, run the networks and compare.

    **Arguments:** with `under_jax` the network itself is run, scans and all, which takes long to compile; otherwise its
    blocks are, one by one, in NumPy. `seconds` of this process's time are what each step may take: to compile a
    network, or to run it. A program is slow if one of them took longer.
    """
    scale, expected = _scaled(written)
    steps = _Steps(seconds)
    verdict = _verdict(written, steps, expected, scale, under_jax)
    return replace(verdict, seconds=steps.longest)


class _Steps:
    """What is done within the limit, one after the other, and the longest that any of it took."""

    def __init__(self, seconds: float):
        self.seconds, self.longest = seconds, 0.0

    @contextmanager
    def step(self) -> Iterator[None]:
        began = time.process_time()
        try:
            with limited(self.seconds):
                yield
        finally:
            self.longest = max(self.longest, time.process_time() - began)


def _verdict(written: Written, steps: _Steps, expected: Meaning, scale: float, under_jax: bool) -> Verdict:
    comparisons: list[Comparison] = []
    networks, doing = 0, "compiling"
    try:
        program, traced = Program.from_text(written.text, "program"), None
        for options in _ways(written):
            doing = "compiling"
            with steps.step(), uncollected():
                traced = traced or program.trace(written.settings)
                compiled = compile_traced(traced, **options)
            inputs = {name: scale * array for name, array in written.inputs.items()}
            doing = "running"
            with steps.step(), np.errstate(all="ignore"):
                found = compiled.run(inputs) if under_jax else compiled.evaluate(inputs)
            networks += 1
            if len(found) != len(expected.outputs):
                return Verdict("wrong", f"{len(found)} outputs of {len(expected.outputs)} come out", networks)
            comparisons += compared(expected, found)
    except ProgramError as error:
        return Verdict("refused", str(error), networks)
    except TooSlow:
        return Verdict("slow", f"{doing} took more than {steps.seconds:g} seconds", networks)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        sentence = f"{type(error).__name__} in {where.filename.rpartition('/')[2]}, {where.name}: {error}"
        return Verdict("traceback", sentence, networks)
    worst = [each for each in comparisons if each.wrong]
    sentence = "".join(f"{e.name} is off by {e.error:.3g}, may be by {e.tolerance:.3g}; " for e in worst)
    return Verdict("wrong" if worst else "equal", sentence.removesuffix("; "), networks, tuple(comparisons))


def _scaled(written: Written) -> tuple[float, Meaning]:
    """The program on its inputs, or on multiples of them, if an output would otherwise be small beside the rest."""
    first = meaning(written)
    for scale in SCALES:
        found = first if scale == 1.0 else meaning(written, scale)
        sizes = [float(np.abs(each.exact).max()) for each in found.outputs]
        if found.largest < LARGEST and min(sizes) >= SHARP * found.largest:
            return scale, found
        if written.kind == "contracting":  # made for the unit ball
            break
    return 1.0, first


def _ways(written: Written) -> Iterator[dict[str, Any]]:
    """Options of the compiler: its own choice, and for two programs in three another one."""
    yield {}
    other = OTHER_WAYS.get(written.number % 6)
    if other:
        yield other


def compared(expected: Meaning, found: Mapping[str, np.ndarray]) -> Iterator[Comparison]:
    """Results by name, in the order of the return statement, against what they should be."""
    for value, (name, array) in zip(expected.outputs, found.items(), strict=True):
        size = float(np.abs(value.exact).max())
        tolerance = value.spread + MULTIPLE * UNIT * size + SMALLEST
        same = array.shape == value.exact.shape
        error = float(np.abs(array - value.exact).max()) if same else np.inf
        yield Comparison(name, error, tolerance, size, expected.largest)
