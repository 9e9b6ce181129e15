"""A program that the fuzzer wrote, and what it means: Python executes the text, NumPy computes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._arithmetic import Arithmetic, Value

NAME = "program"


@dataclass(frozen=True)
class Written:
    """A program's text, its settings, and arrays to run it on. `kind` says who wrote it, `number` from which seed."""

    text: str
    settings: Mapping[str, int | float]
    inputs: Mapping[str, np.ndarray]
    kind: str = ""
    number: int = 0


@dataclass(frozen=True)
class Meaning:
    """The outputs in the order of the return statement, and the largest magnitude met on the way to them."""

    outputs: list[Value]
    largest: float


def meaning(written: Written, scale: float = 1.0) -> Meaning:
    """Execute the text. Only for texts that this room wrote: a user's file is parsed, and never executed."""
    arithmetic = Arithmetic(written.number)
    names = arithmetic.names()
    exec(compile(written.text, "<fuzz>", "exec"), names)
    function = names[NAME]
    scalars = function.__kwdefaults__ or {}
    names |= {name: value for name, value in written.settings.items() if name not in scalars}
    chosen = {name: value for name, value in written.settings.items() if name in scalars}
    inputs = {name: arithmetic.matrix(scale * array) for name, array in written.inputs.items()}
    with np.errstate(all="ignore"):
        found = function(**inputs, **chosen)
    return Meaning(list(found) if isinstance(found, tuple) else [found], arithmetic.largest)
