"""What to draw of a sweep: which axis goes where, as it was asked for or as the table suggests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._directions import Direction, find, where

# An axis with more places than the first is no curve per place, but the second axis of a map.
MOST_SERIES, MOST_PANELS = 8, 12


@dataclass(frozen=True, kw_only=True)
class View:
    """What is asked for; whatever is left out is chosen.

    - `x`, `y`: the axes of the picture; with `y` it is a map by colour, without it curves.
    - `colour`: the axis whose places have a curve each; `panels`: the one whose places have a panel each.
    - `best`: the axis whose places compete: the map says which of them has the least value.
    - `column`: the column of the table that is drawn; `log` says whether its scale is logarithmic.
    - `where`: axes that are held, by field, at the place that a text stands for.
    """

    x: str | None = None
    y: str | None = None
    colour: str | None = None
    panels: str | None = None
    best: str | None = None
    column: str = "value"
    log: bool | None = None
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """Which axis goes where, and at which places the others are held."""

    x: Direction
    y: Direction | None = None
    colour: Direction | None = None
    panels: Direction | None = None
    best: Direction | None = None
    held: tuple[tuple[Direction, tuple[Any, ...]], ...] = ()
    # Those among the held ones that nobody asked for.
    chosen: tuple[Direction, ...] = ()


def laid_out(view: View, axes: Sequence[Direction]) -> Layout:
    """Where the axes of a sweep go; a `ValueError` says what can't be."""
    free = list(axes)
    if not free:
        raise ValueError(
            "the sweep has no axis: all of its points are one; expected at least one field that differs between points."
        )
    if view.y is not None and view.colour is not None:
        raise ValueError(
            f"--y is {view.y!r}, which makes a map, and --colour is {view.colour!r}, which makes curves; leave out one."
        )
    held = []
    for name, text in view.where.items():
        direction = find(name, "--where", free)
        held.append((direction, where(direction, text)))
        free.remove(direction)

    def taken(name: str | None, flag: str) -> Direction | None:
        if name is None:
            return None
        direction = find(name, flag, free)
        free.remove(direction)
        return direction

    best = taken(view.best, "--best")
    panels, colour = taken(view.panels, "--panels"), taken(view.colour, "--colour")
    y, x = taken(view.y, "--y"), taken(view.x, "--x")
    if x is None and not free:
        if best is None:
            raise ValueError("no axis is left for x; expected fewer of --y, --colour, --panels and --where.")
        x, best = best, None
    x = x or _removed(free, _longest(free))
    if y is None and colour is None and free and (best is not None or len(_longest(free).places) > MOST_SERIES):
        y = _removed(free, _longest(free))
        if view.x is None and axes.index(y) < axes.index(x):
            x, y = y, x
    if y is None and best is not None:
        colour, best = colour or best, None if colour is None else best
        if best is not None:
            raise ValueError("--best and --colour without a second axis to draw; leave out one of the two.")
    if y is None and colour is None and free:
        colour = _removed(free, min(free, key=lambda each: len(each.places)))
    if panels is None and free:
        fewest = min(free, key=lambda each: len(each.places))
        panels = _removed(free, fewest) if len(fewest.places) <= MOST_PANELS else None
    for name, direction, most in (("--panels", panels, 4 * MOST_PANELS), ("--colour", colour, 4 * MOST_SERIES)):
        if direction is not None and len(direction.places) > most:
            raise ValueError(
                f"{name} is {direction.fields[0]}, which has {len(direction.places)} places; expected at most {most}: "
                "choose another axis, or hold it with --where."
            )
    if best is not None and len(best.places) > MOST_SERIES - 1:
        raise ValueError(
            f"--best is {best.fields[0]}, which has {len(best.places)} places; expected at most {MOST_SERIES - 1}: "
            "more colours can't be told apart."
        )
    held += [(each, each.places[0]) for each in free]
    return Layout(x, y, colour, panels, best, tuple(held), tuple(free))


def _longest(free: Sequence[Direction]) -> Direction:
    """The axis of numbers with most places; of words if there is none of numbers."""
    return max(free, key=lambda each: (each.numbers is not None, len(each.places)))


def _removed(free: list[Direction], direction: Direction) -> Direction:
    free.remove(direction)
    return direction
