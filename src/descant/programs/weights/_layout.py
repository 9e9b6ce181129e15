"""Which columns of H each place owns at each moment.

A place has its columns to itself and begins in the first row. A block has no residual connection: its output is a new
matrix, in which only what is kept or written exists. So the columns of what died are free at once, and what lives can
be moved if the gaps are too small; the width of H is the largest total width of what is alive at one moment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..schedule import Block, Schedule, Step

# The first column of each place that is alive, by its number.
Columns = dict[int, int]


@dataclass(frozen=True)
class Layout:
    """Size of H, and the first column of each place before and after every block, in the order of `blocks`.

    Before a block there may still be places that nobody reads any more, right after a loop: they are listed too.
    """

    rows: int
    columns: int
    before: tuple[Columns, ...]
    after: tuple[Columns, ...]

    @property
    def start(self) -> Columns:
        """Where the inputs are."""
        return self.before[0]

    @property
    def end(self) -> Columns:
        """Where the outputs are."""
        return self.after[-1]


def lay_out(schedule: Schedule) -> Layout:
    """Give every place its columns."""
    widths = [place.shape[1] for place in schedule.places]
    alive = schedule.alive_first
    start: Columns = {}
    for place in schedule.inputs.values():
        if place in alive:
            start[place] = sum(widths[other] for other in start)
    moments = [alive, *(set(block.kept) | set(block.writes) for block in schedule.blocks())]
    columns = max(1, *(sum(widths[place] for place in moment) for moment in moments))
    painter = Painter(widths, columns)
    painter.run(schedule.steps, start, None)
    return Layout(_rows(schedule), columns, tuple(painter.before), tuple(painter.after))


class Painter:
    """Goes through the blocks, and knows what each leaves where."""

    def __init__(self, widths: list[int], columns: int):
        self.widths, self.columns = widths, columns
        self.before: list[Columns] = []
        self.after: list[Columns] = []

    def run(self, steps: tuple[Step, ...], now: Columns, final: Columns | None) -> Columns:
        """Go through the steps; the last block of a loop's body puts everything where the body found it."""
        for index, step in enumerate(steps):
            if isinstance(step, Block):
                self.before.append(dict(now))
                last = final is not None and index == len(steps) - 1
                now = dict(final) if last and final is not None else self.next(step, now)
                self.after.append(now)
            else:
                now = self.run(step.body, now, {place: now[place] for place in step.alive})
        return now

    def next(self, block: Block, now: Mapping[int, int]) -> Columns:
        """The columns after a block that is not the last one of a loop's body."""
        found = {place: now[place] for place in block.kept}
        # A place that is rewritten stays where it is, if it is anywhere.
        stay = {place: now[place] for place in block.writes if place in now}
        if self._fits(found | stay):
            found |= stay
        new = [place for place in block.writes if place not in found]
        placed = self._filled(found, new)
        if placed is None:
            packed: Columns = {}
            for place in sorted(found, key=lambda place: found[place]):
                packed[place] = sum(self.widths[other] for other in packed)
            placed = self._filled(packed, new)
        assert placed is not None, "the width of H holds all that is alive"
        return placed

    def _fits(self, columns: Columns) -> bool:
        owned = [set(range(start, start + self.widths[place])) for place, start in columns.items()]
        return sum(map(len, owned)) == len(set().union(*owned)) if owned else True

    def _filled(self, columns: Columns, new: list[int]) -> Columns | None:
        """Put new places into the first gaps that are wide enough."""
        found = dict(columns)
        for place in new:
            for start in self._gaps(found, self.widths[place]):
                found[place] = start
                break
            else:
                return None
        return found

    def _gaps(self, columns: Columns, width: int) -> Iterator[int]:
        taken = sorted((start, start + self.widths[place]) for place, start in columns.items())
        free = 0
        for start, end in [*taken, (self.columns, self.columns)]:
            if start - free >= width:
                yield free
            free = max(free, end)


def _rows(schedule: Schedule) -> int:
    """The height of the highest place in use, and of every factor of a head."""
    used = {place for block in schedule.blocks() for place in (*block.kept, *block.writes, *block.reads)}
    rows = [schedule.places[place].shape[0] for place in used]
    for block in schedule.blocks():
        for head in block.heads:
            rows += [head.query.shape[0], head.key.shape[0]]
    return max(rows)
