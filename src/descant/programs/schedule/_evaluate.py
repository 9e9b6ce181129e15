"""The schedule's interpreter: places and heads, with NumPy."""

from collections.abc import Mapping

import numpy as np

from ._steps import Block, Reading, Schedule, Step


def evaluate_schedule(schedule: Schedule, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What blocks and heads compute from inputs, value by value and without weights; the outputs in their order."""
    values = {place: np.asarray(inputs[name], dtype=float) for name, place in schedule.inputs.items()}
    values = _run(schedule, schedule.steps, values)
    return [values[place] for _, place in schedule.outputs]


def _run(schedule: Schedule, steps: tuple[Step, ...], values: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    for step in steps:
        if isinstance(step, Block):
            values = _block(schedule, step, values)
        else:
            for _ in range(step.count):
                values = _run(schedule, step.body, values)
    return values


def _block(schedule: Schedule, block: Block, values: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Everything that the block neither keeps nor writes is gone afterwards: reading it would be a KeyError."""
    after = {place: values[place] for place in block.kept}
    after |= {place: np.zeros(schedule.places[place].shape) for place in block.writes}
    for write in block.carry:
        after[write.place] = after[write.place] + _read(write.reading, values)
    for head in block.heads:
        weights = _read(head.query, values) @ _read(head.key, values).T
        for write in head.values:
            after[write.place] = after[write.place] + weights @ _read(write.reading, values)
    return after


def _read(reading: Reading, values: Mapping[int, np.ndarray]) -> np.ndarray:
    found = np.zeros(reading.shape) if reading.constant is None else reading.constant
    for place, right in reading.terms:
        found = found + values[place] @ right
    return found
