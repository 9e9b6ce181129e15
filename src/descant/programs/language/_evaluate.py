"""Direct evaluation with NumPy: what a program means."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ._instructions import Body, Instruction, Repeat


@dataclass
class Evaluation:
    """Results, and the largest magnitude met on the way: what errors are measured against."""

    results: list[np.ndarray]
    largest: float = field(default=0.0)


def evaluate(body: Body, inputs: Mapping[str, np.ndarray]) -> Evaluation:
    """Run a program on arrays by parameter name."""
    found = Evaluation([])
    found.results = _run(body, inputs, [], found)
    return found


def repeated(repeat: Repeat, operands: list[np.ndarray]) -> list[np.ndarray]:
    """What a repeat makes of arrays: its carried values at the end."""
    carried, outside = operands[: repeat.carried], operands[repeat.carried :]
    for _ in range(repeat.count):
        carried = _run(repeat.body, {}, carried + outside, Evaluation([]))
    return carried


def _run(body: Body, inputs: Mapping, parameters: list[np.ndarray], found: Evaluation) -> list[np.ndarray]:
    values: list = []
    for instruction in body.instructions:
        operands = [values[index] for index in instruction.operands]
        value = _apply(instruction, operands, inputs, parameters, found)
        if isinstance(value, np.ndarray) and value.size:
            found.largest = max(found.largest, float(np.abs(value).max()))
        values.append(value)
    return [values[index] for index in body.results]


def _apply(instruction: Instruction, operands: list, inputs: Mapping, parameters: list, found: Evaluation):
    match instruction.op:
        case "input":
            return np.asarray(inputs[instruction.attribute], dtype=float)
        case "parameter":
            return parameters[instruction.attribute]
        case "constant":
            return instruction.attribute.array
        case "add":
            return operands[0] + operands[1]
        case "subtract":
            return operands[0] - operands[1]
        case "multiply":
            return operands[0] @ operands[1]
        case "transpose":
            return operands[0].T
        case "scale":
            return instruction.attribute * operands[0]
        case "hstack":
            return np.hstack(operands)
        case "vstack":
            return np.vstack(operands)
        case "slice":
            top, bottom, left, right = instruction.attribute
            return operands[0][top:bottom, left:right]
        case "place":
            top, bottom, left, right = instruction.attribute
            value = operands[0].copy()
            value[top:bottom, left:right] = operands[1]
            return value
        case "repeat":
            repeat = instruction.attribute
            carried, outside = operands[: repeat.carried], operands[repeat.carried :]
            for _ in range(repeat.count):
                carried = _run(repeat.body, inputs, carried + outside, found)
            return carried
        case "result":
            return operands[0][instruction.attribute]
    raise AssertionError(f"no such operation: {instruction.op}")
