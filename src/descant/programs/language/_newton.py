"""1 / s and 1 / sqrt(s) of a 1 x 1 value by Newton's iteration, which needs nothing but products."""

from typing import Any

import numpy as np

from ._errors import ProgramError
from ._loops import loop
from ._matrix import Matrix
from ._scalars import checked_number


def reciprocal(s: Any, steps: Any, start: Any) -> Matrix:
    """1 / s of a 1 x 1 value in a program, by steps g <- 2 g - g s g from `start`, a number or a 1 x 1 value.

    Converges for 0 < start < 2 / s; the relative error is (1 - start s) ** (2 ** steps), in exact arithmetic.
    """
    g = _start("reciprocal", s, start)

    def step(g: Matrix) -> Matrix:
        return 2 * g - g @ s @ g

    return _iterated(g, steps, step)


def rsqrt(s: Any, steps: Any, start: Any) -> Matrix:
    """1 / sqrt(s) of a 1 x 1 value in a program, by steps g <- g (3 - s g g) / 2 from `start`, a number or 1 x 1 value.

    Converges for 0 < start < sqrt(3 / s); a step takes the relative error r = 1 - g sqrt(s) to r^2 (3 - r) / 2.
    """
    g = _start("rsqrt", s, start)

    def step(g: Matrix) -> Matrix:
        return 1.5 * g - 0.5 * (g @ s @ g @ g)

    return _iterated(g, steps, step)


def _start(name: str, s: Any, start: Any) -> Matrix:
    advice = f"write {name}(s, steps, start) for a 1 x 1 value s"
    if not isinstance(s, Matrix):
        raise ProgramError(f"{name}() of something that is no matrix", f"{advice}; for a number write 1 / s")
    if s.shape != (1, 1):
        inverse = "; for a matrix iterate Newton-Schulz, Z = 2 * Z - Z @ A @ Z" if s.shape[0] == s.shape[1] else ""
        raise ProgramError(f"{name}() of {s.described()}", advice + inverse)
    if isinstance(start, Matrix):
        if start.shape != (1, 1):
            raise ProgramError(f"{name}() from {start.described()}", "the start is a number, or 1 x 1")
        return s.operand(start, name)
    if not checked_number(start) > 0:
        raise ProgramError(f"{name}() from {start}", "the start is positive, and below what the documentation says")
    return s.constant(np.full((1, 1), checked_number(start)))


def _iterated(g: Matrix, steps: Any, step: Any) -> Matrix:
    names = {"g": g}
    for _ in loop(g.trace, (steps,), lambda: names):
        names["g"] = step(names["g"])
    return names["g"]
