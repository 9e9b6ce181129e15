"""Direct evaluation: what a program means, on numbers of any kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import mul
from typing import Any

import numpy as np

from ._instructions import Body, Instruction, Repeat


@dataclass
class Evaluation:
    """Results, and the largest magnitude met on the way: what errors are measured against."""

    results: list[np.ndarray]
    largest: float = field(default=0.0)


def evaluate(body: Body, inputs: Mapping[str, np.ndarray]) -> Evaluation:
    """Run a program on arrays by parameter name, with NumPy."""
    found = Evaluation([])

    def look(value: np.ndarray) -> None:
        if value.size:
            found.largest = max(found.largest, float(np.abs(value).max()))

    given = {name: np.asarray(value, dtype=float) for name, value in inputs.items()}
    found.results = Interpreter(given, look=look).run(body)
    return found


@dataclass(frozen=True)
class Interpreter:
    """Runs instructions on arrays by input name; their entries may be anything that can be added and multiplied.

    `known` makes such an array of a constant, `scaled` multiplies a number of the program and an array, `look` is
    handed every value.
    """

    inputs: Mapping[str, np.ndarray]
    known: Callable[[np.ndarray], np.ndarray] = lambda array: array
    scaled: Callable[[float, np.ndarray], np.ndarray] = mul
    look: Callable[[np.ndarray], None] = lambda value: None

    def run(self, body: Body, parameters: list[np.ndarray] | None = None) -> list[np.ndarray]:
        """The results; `parameters` are those of a repeat's body."""
        values: list[Any] = []
        for instruction in body.instructions:
            value = self._value(instruction, [values[index] for index in instruction.operands], parameters or [])
            if isinstance(value, np.ndarray):
                self.look(value)
            values.append(value)
        return [values[index] for index in body.results]

    def repeated(self, repeat: Repeat, operands: list[np.ndarray]) -> list[np.ndarray]:
        """What a repeat makes of arrays: its carried values at the end."""
        carried, outside = operands[: repeat.carried], operands[repeat.carried :]
        for _ in range(repeat.count):
            carried = self.run(repeat.body, carried + outside)
        return carried

    def _value(self, instruction: Instruction, operands: list, parameters: list[np.ndarray]) -> Any:
        attribute = instruction.attribute
        match instruction.op:
            case "input":
                return self.inputs[attribute]
            case "parameter":
                return parameters[attribute]
            case "constant":
                return self.known(attribute.array)
            case "add":
                return operands[0] + operands[1]
            case "subtract":
                return operands[0] - operands[1]
            case "multiply":
                return operands[0] @ operands[1]
            case "transpose":
                return operands[0].T
            case "scale":
                return self.scaled(attribute, operands[0])
            case "hstack":
                return np.hstack(operands)
            case "vstack":
                return np.vstack(operands)
            case "slice":
                top, bottom, left, right = attribute
                return operands[0][top:bottom, left:right]
            case "place":
                top, bottom, left, right = attribute
                value = operands[0].copy()
                value[top:bottom, left:right] = operands[1]
                return value
            case "repeat":
                return self.repeated(attribute, operands)
            case "result":
                return operands[0][attribute]
        raise AssertionError(f"no such operation: {instruction.op}")
