"""Slices that move with the index: of a value that the loop doesn't change, and of one that it writes row by row."""

from ._index import Rewriting, Window, moved
from ._instructions import Instruction
from ._repeat import Differs, Tape
from ._turn import Turn, Turner, part

# Turning a matrix takes a matrix of its height squared; above this it isn't tried.
TALLEST = 2000


def read(work: Rewriting, indices: list[int]) -> None:
    """Rewrite slices of values that the loop doesn't change. Those of one value that move alike share a copy of it."""
    groups: dict[tuple[int, Turn], list[int]] = {}
    for index in indices:
        base = work.unchanged(index, 0)
        if base is None:
            raise Differs
        groups.setdefault((base, moved([each.attribute for each in work.versions(index)])), []).append(index)
    for (base, turn), lines in groups.items():
        _read(work, base, turn, lines)


def _read(work: Rewriting, base: int, turn: Turn, indices: list[int]) -> None:
    windows = {index: [each.attribute for each in work.versions(index)] for index in indices}
    every = [window for each in windows.values() for window in each]
    top, left = min(each[0] for each in every), min(each[2] for each in every)
    bottom, right = max(each[1] for each in every), max(each[3] for each in every)
    shape = (bottom - top, right - left)
    copy = base
    if shape != work.workshop.shapes[base]:
        copy = part(work.workshop, work.before, base, (top, bottom, left, right))
    firsts = [each[0] for each in windows.values()]
    corner = (min(each[0] for each in firsts), min(each[2] for each in firsts))
    checked_size(shape)
    copy = Turner(work.workshop, work.before, shape, (corner[0] - top, corner[1] - left))(work.before, copy)
    name = work.name_of(base)
    copies = advance(work, name, copy, shape, turn)
    shown: dict[Window, list[int]] = {}
    for index in indices:
        window = relative(windows[index][0], corner)
        here = shown.get(window) or now(work, name, copies, window)
        shown[window] = here
        size = (0, window[1] - window[0], 0, window[3] - window[2])
        work.lines[index] = []
        for iteration, value in enumerate(here[: work.count]):
            old = work.versions(index)[iteration]
            new = Instruction("slice", (value,), old.shape, size if work.ahead else window, old.name, old.position)
            work.lines[index].append([(work.address(index, iteration), new)])


def advance(work: Rewriting, name: str, start: int, shape: tuple[int, int], turn: Turn) -> list[int]:
    """Carry a copy that is turned in every iteration; its addresses at all boundaries."""
    turner = Turner(work.workshop, work.before, shape, turn)
    copies = [start]
    for tape in work.ends:
        copies.append(turner(tape, copies[-1]))
    work.hold(f"{name} turned", copies)
    return copies


def now(work: Rewriting, name: str, copies: list[int], window: Window) -> list[int]:
    """What the iterations read: the copy, or with `ahead` the window of it, carried beside it."""
    if not work.ahead:
        return copies
    tapes: list[Tape] = [work.before, *work.ends]
    windows = [part(work.workshop, tape, copy, window) for tape, copy in zip(tapes, copies, strict=True)]
    work.hold(f"{name} now", windows)
    return windows


def relative(window: Window, corner: tuple[int, int]) -> Window:
    """A window as seen from a corner."""
    top, bottom, left, right = window
    return top - corner[0], bottom - corner[0], left - corner[1], right - corner[1]


def checked_size(shape: tuple[int, int]) -> None:
    """Nothing is turned that is too large."""
    if max(shape) > TALLEST:
        raise Differs
