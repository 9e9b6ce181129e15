"""How long each place must keep its value: what a block does not write and somebody still reads is kept."""

from dataclasses import replace

from ._steps import Block, Loop, Schedule, Step


def with_lifetimes(schedule: Schedule) -> Schedule:
    """Fill in what blocks keep and what is alive around loops; drop stores that nobody reads."""
    alive = {place for _, place in schedule.outputs}
    steps, _ = _backwards(schedule.steps, alive)
    if not steps:
        # Nothing to compute: one block still drops what is not returned.
        kept = tuple(sorted(alive))
        steps = (Block((), (), (), kept),)
    return replace(schedule, steps=steps)


def _backwards(steps: tuple[Step, ...], alive: set[int]) -> tuple[tuple[Step, ...], set[int]]:
    """Steps with their lifetimes, and what must be alive before them, if `alive` is so after them."""
    found: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Loop):
            done, alive = _loop(step, alive)
        else:
            done = _block(step, alive)
            alive = set(done.kept) | done.reads
        found.append(done)
    return tuple(reversed(found)), alive


def _block(block: Block, alive: set[int]) -> Block:
    heads = []
    for head in block.heads:
        values = tuple(write for write in head.values if write.place in alive)
        if values:
            heads.append(replace(head, values=values))
    writes = tuple(place for place in block.writes if place in alive)
    carry = tuple(write for write in block.carry if write.place in alive)
    return Block(tuple(heads), carry, writes, tuple(sorted(alive - set(writes))))


def _loop(loop: Loop, after: set[int]) -> tuple[Loop, set[int]]:
    """What is alive at the end of the body is so at its beginning, because it is run again."""
    alive = set(after)
    while True:
        body, before = _backwards(loop.body, alive)
        if before <= alive:
            return replace(loop, body=body, alive=tuple(sorted(alive))), alive
        alive |= before
