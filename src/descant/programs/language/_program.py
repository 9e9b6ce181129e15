"""A program: its signature and a front end that runs it on symbolic matrices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from jaxtyping import Float

from ._decorated import read_function
from ._errors import ProgramError
from ._evaluate import Evaluation, evaluate
from ._front_end import FrontEnd
from ._instructions import Body, Shape, effort
from ._matrix import Matrix
from ._roll import roll
from ._signature import Signature
from ._text import read_text
from ._trace import Trace, recording

# A program is long if it takes more effort than this, and so many times that of the shortest way to write it. A
# repeat is planned by itself, so programs that are made of repeats may be longer.
LONG, LONG_REPEATS, LONGER = 600, 2000, 3


@dataclass(frozen=True)
class Input:
    """A matrix to be handed in: an optional one is zero unless given."""

    name: str
    shape: Shape
    optional: bool


@dataclass(frozen=True)
class Traced:
    """A program with all sizes and scalars bound: the compiler's input."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    body: Body
    settings: Mapping[str, Any]
    others: tuple[Body, ...] = ()

    def variants(self) -> Iterator["Traced"]:
        """The ways to write it that are worth compiling; all compute the same.

        Loops that differ in their index alone are written out in the first, and rewritten in `others`. What is long is
        left out, where a shorter one is there.
        """
        least = min((effort(body) for body in self.others), default=0)
        if not self.others or effort(self.body) <= max(LONG, LONGER * least):
            yield self
        for body in self.others:
            if effort(body) <= max(LONG_REPEATS, LONGER * least):
                yield replace(self, body=body)

    def evaluate(self, inputs: Mapping[str, Any]) -> Evaluation:
        """Run with NumPy, directly."""
        return evaluate(self.body, self.complete(inputs))

    def complete(self, given: Mapping[str, Any]) -> dict[str, Float[np.ndarray, "_ _"]]:
        """All inputs as float64 arrays of the right shape: those given, zeros for optional ones."""
        known = [each.name for each in self.inputs]
        for name in given:
            if name not in known:
                raise ValueError(f"inputs has {name!r}; {self.name} takes {', '.join(known) or 'nothing'}.")
        found = {}
        for each in self.inputs:
            if each.name not in given:
                if not each.optional:
                    raise ValueError(f"inputs lacks {each.name}, a matrix of shape {each.shape}.")
                found[each.name] = np.zeros(each.shape)
                continue
            found[each.name] = self._array(each, given[each.name])
        return found

    def _array(self, each: Input, value: Any) -> Float[np.ndarray, "_ _"]:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{each.name} has entries of type {array.dtype}; expected real numbers.")
        if array.shape != each.shape:
            column = " A vector is a matrix with one column." if array.ndim == 1 else ""
            raise ValueError(
                f"{each.name} has shape {array.shape}; expected {each.shape}, "
                f"for which {self.name} was compiled.{column}"
            )
        return array.astype(float)


@dataclass(frozen=True)
class Program:
    """A matrix program that is not bound to sizes yet.

    >>> from descant.programs import Program
    >>> text = 'def gram(X: "n d"):\\n    return X.T @ X'
    >>> Program.from_text(text).trace(n=3, d=2).evaluate({"X": [[1, 0], [0, 2], [1, 0]]}).results[0].tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """

    signature: Signature
    front_end: FrontEnd
    doc: str = ""

    @classmethod
    def from_text(cls, text: str, origin: str = "program") -> "Program":
        """Parse a file's text, which is never executed. `origin` names it in what `ProgramError` says."""
        return cls(*read_text(text, origin))

    @classmethod
    def from_function(cls, function: Any) -> "Program":
        """From a Python function, whose operations are recorded when it is compiled."""
        return cls(*read_function(function))

    @property
    def name(self) -> str:
        """The function's name."""
        return self.signature.name

    def trace(self, settings: Mapping[str, Any] | None = None, /, **more: Any) -> Traced:
        """Bind sizes and scalars, check all shapes, and record the operations.

        **Arguments:** `settings`, also by name: `n=20, d=5`. **Returns:** a `Traced`, to evaluate or to compile;
        `ProgramError` says where and why the program can't be.
        """
        signature = self.signature
        try:
            bound = signature.settings({**(settings or {}), **more})
            inputs = tuple(Input(p.name, signature.shape(p, bound), p.optional) for p in signature.parameters)
            trace, state = self.front_end.start(bound)
            with recording(trace):
                matrices = {
                    each.name: Matrix(
                        trace, trace.add("input", (), each.shape, each.name), each.shape, (p.rows, p.columns)
                    )
                    for each, p in zip(inputs, signature.parameters, strict=True)
                }
                values = self.front_end.finish(state, matrices, bound)
            results = self._results(values, trace)
        except ProgramError as error:
            raise error.located(None, self.front_end.origin) from None
        except RecursionError:
            raise ProgramError("the program is nested too deeply", "give parts of it names") from None
        self._name_values(trace)
        rolled = roll(trace, results)
        return Traced(self.name, inputs, self._output_names(len(results)), rolled.body, bound, rolled.others)

    def _results(self, values: list[Any], trace: Trace) -> list[int]:
        for value in values:
            if not isinstance(value, Matrix) or value.trace is not trace:
                raise ProgramError(f"{self.name} returns something that is no matrix", "return matrices only")
        if not values:
            raise ProgramError(f"{self.name} returns nothing", "end it with `return w`")
        return [value.address for value in values]

    def _name_values(self, trace: Trace) -> None:
        spans, _ = self.front_end.names()
        for address, instruction in enumerate(trace.instructions):
            name = instruction.attribute if instruction.op == "input" else spans.get(instruction.position)  # type: ignore
            if name is not None:
                trace.instructions[address] = replace(instruction, name=name)

    def _output_names(self, returned: int) -> tuple[str, ...]:
        _, names = self.front_end.names()
        if len(names) != returned:
            names = [None] * returned
        # Names that the program gives once stand; the others count from where they are returned.
        given = [name if [*names].count(name) == 1 else None for name in names]
        found: list[str] = []
        for index, name in enumerate(given):
            free = (f"out{number}" for number in count(index))
            found.append(name or next(each for each in free if each not in given and each not in found))
        return tuple(found)


def program(function: Any) -> Program:
    """Mark a function as a matrix program: the same text as in a file, with all of Python around it.

    **Arguments:** the annotations of the function's arguments name their sizes: `"n d"` is a matrix of n rows and d
    columns.

    >>> from descant.programs import compile_program, program
    >>> @program
    ... def twice(X: "n d"):
    ...     return X + X
    >>> compile_program(twice, n=1, d=2).run({"X": [[1.0, 2.0]]})["out0"].tolist()
    [[2.0, 4.0]]
    """
    return Program.from_function(function)
