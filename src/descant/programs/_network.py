"""Weights as the attention room's own layers."""

from collections.abc import Iterator

import jax.numpy as jnp

from ..attention import ELSA, ELSABlock, Repeated
from .schedule import Block, Step
from .weights import NAMES, Weights


def assemble(steps: tuple[Step, ...], weights: list[Weights]) -> ELSA:
    """A stack of blocks in which loops are repeats with shared weights."""
    return ELSA(_layers(steps, iter(weights)))


def _layers(steps: tuple[Step, ...], weights: Iterator[Weights]) -> tuple[ELSABlock | Repeated, ...]:
    found: list[ELSABlock | Repeated] = []
    for step in steps:
        if isinstance(step, Block):
            arrays = next(weights)
            # Without its type JAX compiles a program for every new shape, to hand an array on as it is.
            w1, w2, w3, b1, b2, b3 = (jnp.asarray(arrays[name], arrays[name].dtype) for name in NAMES)
            found.append(ELSABlock(w1, w2, w3, b1, b2, b3))
        else:
            found.append(Repeated(_layers(step.body, weights), step.count))
    return tuple(found)


def flat_blocks(layers: tuple[ELSABlock | Repeated, ...]) -> Iterator[ELSABlock]:
    """Every block once."""
    for layer in layers:
        if isinstance(layer, ELSABlock):
            yield layer
        else:
            yield from flat_blocks(layer.blocks)


def count_runs(layers: tuple[ELSABlock | Repeated, ...]) -> int:
    """How many blocks are run, repeats counted; none of them is written out for that."""
    return sum(1 if isinstance(each, ELSABlock) else each.count * count_runs(each.blocks) for each in layers)
