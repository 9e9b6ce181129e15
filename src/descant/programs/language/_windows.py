"""Slices that move with the index: of a value that the loop doesn't change, and of one that it writes row by row."""

from contextlib import suppress

from ._index import Indexed, Turn, Window, moved
from ._instructions import Instruction, Shape
from ._repeat import Differs, Tape
from ._turn import Turner, part

# Turning a matrix takes a matrix of its height squared; above this it isn't tried.
TALLEST = 2000


def read(work: Indexed, indices: list[int]) -> None:
    """Rewrite slices of values that the loop doesn't change. Those of one value that move alike share a copy of it."""
    groups: dict[tuple[int, Turn, Window | None], list[int]] = {}
    for index in indices:
        base = work.unchanged(index, 0)
        if base is None:
            raise Differs
        turn, frame = _moved(work.workshop.shapes[base], [each.attribute for each in work.versions(index)])
        groups.setdefault((base, turn, frame), []).append(index)
    for (base, turn, frame), lines in groups.items():
        _read(work, base, turn, frame, lines)


def _moved(shape: Shape, windows: list[Window]) -> tuple[Turn, Window | None]:
    """How a window moves: straight on, or around in the rows and columns that it ever sees, or in all."""
    with suppress(Differs):
        return moved(windows), None
    seen = _frame(windows)
    with suppress(Differs):
        return moved(windows, _shape(seen)), seen
    return moved(windows, shape), (0, shape[0], 0, shape[1])


def _frame(windows: list[Window]) -> Window:
    tops, bottoms, lefts, rights = zip(*windows, strict=True)
    return min(tops), max(bottoms), min(lefts), max(rights)


def _shape(window: Window) -> Shape:
    return window[1] - window[0], window[3] - window[2]


def _read(work: Indexed, base: int, turn: Turn, frame: Window | None, indices: list[int]) -> None:
    windows = {index: [each.attribute for each in work.versions(index)] for index in indices}
    frame = frame or _frame([window for each in windows.values() for window in each])
    shape = _shape(frame)
    copy = base
    if shape != work.workshop.shapes[base]:
        copy = part(work.workshop, work.before, base, frame)
    firsts = [each[0] for each in windows.values()]
    corner = (min(each[0] for each in firsts), min(each[2] for each in firsts))
    checked_size(shape)
    copy = Turner(work.workshop, work.before, shape, (corner[0] - frame[0], corner[1] - frame[2]))(work.before, copy)
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


def advance(work: Indexed, name: str, start: int, shape: Shape, turn: Turn) -> list[int]:
    """Carry a copy that is turned in every iteration; its addresses at all boundaries."""
    turner = Turner(work.workshop, work.before, shape, turn)
    copies = [start]
    for tape in work.ends:
        copies.append(turner(tape, copies[-1]))
    work.hold(f"{name} turned", copies)
    return copies


def now(work: Indexed, name: str, copies: list[int], window: Window) -> list[int]:
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


def checked_size(shape: Shape) -> None:
    """Nothing is turned that is too large."""
    if max(shape) > TALLEST:
        raise Differs
