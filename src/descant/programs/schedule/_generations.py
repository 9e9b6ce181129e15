"""Why rounding can't grow in blocks that stand one after the other: those of a loop that is written out, say.

There is no loop to look at (`_stability`), but a value may be computed twice all the same, as it is and transposed, and
each copy from both copies of the value before it. The difference of two copies is fresh rounding if both are made of
the same values, none of which is a copy of another; if not, it also has in it what earlier copies differ by, and may
have grown. `generations` counts how often that can happen along a schedule, one after the other, in its blocks and in
every loop's body; up to `MOST` times is accepted, whatever the number of blocks. Where it never happens, every value is
computed once, and the network is a run of the program.

A product counts as what it is made of, and a copy that is made by transposing the other one as that one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from ._stability import after_any_number
from ._steps import Block, Loop, Schedule, Step

# In a generation of the update in `_stability` the difference is multiplied by 1 + a b, less than three where 1 - a b
# contracts; so after four of them two digits are lost at the most.
MOST = 4
Reads = dict[int, set[int]]


@dataclass(frozen=True)
class _Value:
    """What is in a place: the values that it counts as, what those were made of, and after how many generations."""

    parts: frozenset[int]
    made_of: frozenset[int] = frozenset()
    generation: int = 0


def mixes_generations(schedule: Schedule) -> bool:
    """Whether copies of values are mixed in blocks one after the other, more often than is accepted."""
    return generations(schedule) > MOST


def generations(schedule: Schedule) -> int:
    """How often in a row copies of values can differ by more than their own rounding."""
    walk = _Walk(schedule)
    walk.steps(schedule.steps, walk.fresh(schedule.inputs.values()))
    return walk.most


class _Walk:
    def __init__(self, schedule: Schedule):
        self.values, self.copy_of = set(schedule.values), dict(schedule.copies)
        self.numbers, self.most = count(), 0
        # Of values that are copies, the parts of those that they are copies of.
        self.originals: dict[int, frozenset[int]] = {}

    def fresh(self, places: Iterable[int]) -> dict[int, _Value]:
        """Values that nothing is known of."""
        return {place: _Value(frozenset((next(self.numbers),))) for place in places}

    def steps(self, steps: Iterable[Step], held: dict[int, _Value]) -> None:
        """Go through steps; what a place held last is remembered after it is gone."""
        for step in steps:
            if isinstance(step, Block):
                held |= self._written(_reads(step), held)
            else:
                # What is between two iterations is a beginning: there `_stability` has looked at the copies.
                self.steps(step.body, self.fresh(step.alive))
                held |= self._written(_changed(step), held)

    def _written(self, reads: Reads, held: dict[int, _Value]) -> dict[int, _Value]:
        found: dict[int, _Value] = {}
        # Copies after what they are copies of.
        for place in sorted(reads, key=lambda each: self.copy_of.get(each) in reads):
            read = [held[each] for each in reads[place]]
            made_of = frozenset[int]().union(*(each.parts for each in read))
            generation = max((each.generation for each in read), default=0)
            other = found.get(self.copy_of.get(place, -1)) or held.get(self.copy_of.get(place, -1))
            if other is not None and made_of == other.parts:
                found[place] = other
                continue
            if other is not None and (made_of != other.made_of or self._mixed(made_of)):
                generation = 1 + max(generation, other.generation)
            parts = made_of
            if place in self.values:
                number = next(self.numbers)
                parts = frozenset((number,))
                if other is not None:
                    self.originals[number] = other.parts
            found[place] = _Value(parts, made_of, generation)
            self.most = max(self.most, generation)
        return found

    def _mixed(self, parts: frozenset[int]) -> bool:
        return any(self.originals.get(part, frozenset()) & parts for part in parts)


def _reads(block: Block) -> Reads:
    """What each place is made of that a block writes."""
    found: Reads = {place: set() for place in block.writes}
    for write in block.carry:
        found[write.place] |= write.reading.places
    for head in block.heads:
        for write in head.values:
            found[write.place] |= head.query.places | head.key.places | write.reading.places
    return found


def _changed(loop: Loop) -> Reads:
    """The same of a loop, over all of its iterations."""
    reads = after_any_number(loop)
    return {place: set(found) for place, found in reads.items() if found != {place}}
