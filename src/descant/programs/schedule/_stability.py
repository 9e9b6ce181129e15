"""Why rounding can't grow in a loop that carries a value and its transpose, however often it runs.

Two copies of one value differ by rounding, and the program says nothing about what that difference becomes: where an
update reads both, it may grow while the program contracts. W + c - a W b can be read as P + c - a S^T b from the
copies P = W and S = W^T; then P - S^T is multiplied by 1 + a b in each iteration, and the program's own error by
1 - a b. So the copies of a loop must be read in one of three ways:

1. one complete set of copies is updated from itself alone, and the others from that set: they are made afresh;
2. both sets are updated each from itself alone: two runs of the program, each as stable as it is;
3. each set is updated from the other one alone: the same two runs, which change places in every iteration.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from ._steps import Block, Loop, Schedule, Step

# Which values of the beginning a place depends on.
Sources = Mapping[int, frozenset[int]]
# With more copies than this not all ways to name one set of them the first are tried.
MOST_COPIES = 8


def unstable_loops(schedule: Schedule) -> list[Loop]:
    """Loops in which copies of a value are mixed."""
    return [loop for loop in _loops(schedule.steps) if not _is_stable(loop)]


def _loops(steps: Iterable[Step]) -> Iterator[Loop]:
    for step in steps:
        if isinstance(step, Loop):
            yield step
            yield from _loops(step.body)


def _is_stable(loop: Loop) -> bool:
    pairs = [pair for pair in loop.copies if set(pair) <= set(loop.alive)]
    if not pairs:
        return True
    if len(pairs) > MOST_COPIES:
        return False
    read = _after(loop.body, {place: frozenset((place,)) for place in loop.alive})
    reads = {place: read.get(place, frozenset()) for place in loop.alive}
    choices = product((0, 1), repeat=len(pairs))
    return any(_apart(reads, *_sides(pairs, choice)) for choice in choices)


def _sides(pairs: list[tuple[int, int]], choice: tuple[int, ...]) -> tuple[set[int], set[int]]:
    return (
        {pair[side] for pair, side in zip(pairs, choice, strict=True)},
        {pair[1 - side] for pair, side in zip(pairs, choice, strict=True)},
    )


def _apart(reads: Sources, first: set[int], second: set[int]) -> bool:
    """Whether two sets of copies are read in one of the three ways."""
    from_first, from_second = _reached(reads, first), _reached(reads, second)
    if not from_first & second and (not from_second & second or not from_second & first):
        return True
    # What the iterations leave as it is belongs to no set.
    changing = {place for place in from_first | from_second if reads[place] != {place}}
    crossed = all(not reads[place] & first for place in first) and all(not reads[place] & second for place in second)
    return crossed and changing <= first | second


def _reached(reads: Sources, places: set[int]) -> set[int]:
    """All that these places depend on, over any number of iterations."""
    found: set[int] = set()
    waiting = list(places)
    while waiting:
        for place in reads[waiting.pop()] - found:
            found.add(place)
            waiting.append(place)
    return found


def _after(steps: Iterable[Step], sources: Sources) -> Sources:
    """Which values of the beginning each place depends on after these steps."""
    for step in steps:
        sources = _block(step, sources) if isinstance(step, Block) else _repeated(step, sources)
    return sources


def after_any_number(loop: Loop) -> Sources:
    """Which of the values that are alive before a loop each of them depends on after it."""
    return _repeated(loop, {place: frozenset((place,)) for place in loop.alive})


def _block(block: Block, sources: Sources) -> Sources:
    found = {place: sources[place] for place in block.kept}
    found |= {place: frozenset[int]() for place in block.writes}
    for write in block.carry:
        found[write.place] |= _union(sources, write.reading.places)
    for head in block.heads:
        factors = _union(sources, head.query.places | head.key.places)
        for write in head.values:
            found[write.place] |= factors | _union(sources, write.reading.places)
    return found


def _repeated(loop: Loop, sources: Sources) -> Sources:
    """After any number of iterations, one at least."""
    while True:
        after = _after(loop.body, sources)
        grown = {place: sources.get(place, frozenset()) | found for place, found in after.items()}
        if all(grown[place] == sources.get(place) for place in grown):
            return grown
        sources = grown


def _union(sources: Sources, places: Iterable[int]) -> frozenset[int]:
    return frozenset[int]().union(*(sources[place] for place in places))
