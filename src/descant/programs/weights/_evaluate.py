"""The weights' interpreter in NumPy: H through the blocks, for checks without compiling anything."""

from collections.abc import Iterator, Mapping

import numpy as np

from ..schedule import Block, Schedule, Step
from ._layout import Layout
from ._link import Weights


def embed(schedule: Schedule, layout: Layout, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """H before the first block: the inputs, simply listed."""
    h = np.zeros((layout.rows, layout.columns))
    for name, place in schedule.inputs.items():
        if place in layout.start:
            rows, width = schedule.places[place].shape
            h[:rows, layout.start[place] : layout.start[place] + width] = inputs[name]
    return h


def states(schedule: Schedule, weights: list[Weights], h: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The number of each block as it is run, repeats included, and H after it."""
    order = list(block_order(schedule.steps))
    for index in order:
        w = weights[index]
        h = np.zeros_like(h) + sum(
            (h @ w["w3"][k] + w["b3"][k]) @ ((h @ w["w1"][k] + w["b1"][k]).T @ (h @ w["w2"][k] + w["b2"][k]))
            for k in range(w["w1"].shape[0])
        )
        yield index, h


def block_order(steps: tuple[Step, ...], first: int = 0) -> Iterator[int]:
    """Numbers of blocks in the order in which they run."""
    for step in steps:
        if isinstance(step, Block):
            yield first
            first += 1
        else:
            for _ in range(step.count):
                yield from block_order(step.body, first)
            first += count_blocks(step.body)


def count_blocks(steps: tuple[Step, ...]) -> int:
    """Different blocks, repeats not counted."""
    return sum(1 if isinstance(step, Block) else count_blocks(step.body) for step in steps)


def evaluate_weights(
    schedule: Schedule, layout: Layout, weights: list[Weights], inputs: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    """What the finished matrices compute from inputs, block after block in NumPy; the outputs in their order."""
    h = embed(schedule, layout, inputs)
    for _, after in states(schedule, weights, h):
        h = after
    found = []
    for _, place in schedule.outputs:
        rows, width = schedule.places[place].shape
        found.append(h[:rows, layout.end[place] : layout.end[place] + width])
    return found
