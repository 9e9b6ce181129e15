"""Loops written out: every iteration gets weights of its own."""

from collections.abc import Iterator
from dataclasses import replace

from ...attention import ELSA, ELSABlock, Repeated
from .._compiled import CompiledProgram
from .._description import BlockText
from .._network import assemble
from ..decompile import description_of, recover
from ..schedule import with_lifetimes
from ..weights import lay_out, link

# More blocks than these take long to compile when every one has weights of its own.
MOST_BLOCKS = 200


def unrolled(compiled: CompiledProgram) -> CompiledProgram:
    """The same program without repeats; one of too many blocks is refused.

    Its last iteration no longer keeps what only another one would read: weights as the compiler makes them.
    """
    blocks = len(compiled.network.unrolled())
    if blocks > MOST_BLOCKS:
        raise ValueError(
            f"{compiled.description.program} runs {blocks} blocks, and each would get weights of its own; train them "
            f"--tied, or take fewer iterations: up to {MOST_BLOCKS} blocks."
        )
    texts: list[BlockText] = []
    for number, _ in block_runs(compiled.network.blocks):
        text = compiled.description.blocks[number]
        # What a loop found in H and nobody reads is gone after its first iteration.
        texts.append(replace(text, before=texts[-1].after) if texts else text)
    description = replace(compiled.description, blocks=tuple(texts))
    written_out = CompiledProgram(ELSA(compiled.network.unrolled()), description)
    schedule = with_lifetimes(recover(written_out).schedule)
    layout = lay_out(schedule)
    network = assemble(schedule.steps, link(schedule, layout))
    return CompiledProgram(network, description_of(description, schedule, layout))


def block_labels(compiled: CompiledProgram, *, tied: bool) -> tuple[str, ...]:
    """What the blocks are called: by their number, and unless they are tied by the iteration that they run in."""
    if tied:
        runs = dict.fromkeys(number for number, _ in block_runs(compiled.network.blocks))
        return tuple(f"block {number + 1}" for number in runs)
    return tuple(
        f"block {number + 1}" + (f", iteration {'.'.join(map(str, iterations))}" if iterations else "")
        for number, iterations in block_runs(compiled.network.blocks)
    )


def block_runs(
    layers: tuple[ELSABlock | Repeated, ...], iterations: tuple[int, ...] = (), first: int = 0
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every block as often as it is run: its number among the different ones, and the iterations that it runs in."""
    for layer in layers:
        if isinstance(layer, ELSABlock):
            yield first, iterations
            first += 1
        else:
            for iteration in range(1, layer.count + 1):
                yield from block_runs(layer.blocks, (*iterations, iteration), first)
            first += _different(layer.blocks)


def _different(layers: tuple[ELSABlock | Repeated, ...]) -> int:
    return sum(1 if isinstance(layer, ELSABlock) else _different(layer.blocks) for layer in layers)
