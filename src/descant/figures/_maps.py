"""Maps made ready: edges of cells, one scale of colours for all of them, contour lines."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from ._bare import bare
from ._data import Axis, Map, Rows

# About as many contour lines as can be told apart.
LEVELS = 9
# Digits of contour lines on a logarithmic scale, from many lines to few.
DIGITS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,))


def ready_maps(maps: Sequence[Map]) -> list[dict[str, Any]]:
    """All maps of a figure as plain values; those whose colours mean the same share their scale and contour levels."""
    return [_ready(each, [other for other in maps if other.colour == each.colour]) for each in maps]


def _ready(panel: Map, alike: Sequence[Map]) -> dict[str, Any]:
    across, up = edges(panel.columns, panel.x.log), edges(panel.rows, panel.y.log)
    seen = [value for each in alike for row in each.values for value in row if _shown(each, value)]
    count = sum(len(row) for row in panel.values)
    missing = sum(math.isnan(value) for row in panel.values for value in row)
    return {
        "kind": "map",
        "title": bare(panel.title),
        "x": _axis(panel.x, across, panel.columns),
        "y": _axis(panel.y, up, panel.rows),
        "columns": list(panel.columns),
        "rows": list(panel.rows),
        "across": across,
        "up": up,
        "values": [[value if _shown(panel, value) else None for value in row] for row in panel.values],
        "errors": [[value if math.isfinite(value) else None for value in row] for row in panel.errors],
        "theory": [[value if math.isfinite(value) else None for value in row] for row in panel.theory],
        "failed": [list(cell) for cell in panel.failed],
        "names": [bare(name) for name in panel.names],
        "colour": {"label": bare(panel.colour.label), "log": panel.colour.log, "limits": _limits(panel.colour, seen)},
        "contours": _contours(panel, _levels(panel.colour.log, [each.theory for each in alike])),
        # A cell without a value is blank; one whose value is no number, or none for this scale, was dropped.
        "dropped": count - missing - sum(_shown(panel, value) for row in panel.values for value in row),
    }


def _shown(panel: Map, value: float) -> bool:
    return math.isfinite(value) and (value > 0 or not panel.colour.log)


def edges(places: Sequence[float], log: bool) -> list[float]:
    """Where cells around some places begin and end: half-way to their neighbours, as it is seen on the axis.

    >>> edges((1.0, 2.0, 4.0), log=False)
    [0.5, 1.5, 3.0, 5.0]
    """
    seen = [math.log(place) for place in places] if log else list(places)
    if len(seen) == 1:
        found = [seen[0] - 0.5, seen[0] + 0.5]
    else:
        between = [left + (right - left) / 2 for left, right in pairwise(seen)]
        found = [2 * seen[0] - between[0], *between, 2 * seen[-1] - between[-1]]
    return [math.exp(end) for end in found] if log else found


def _axis(axis: Axis, ends: Sequence[float], places: Sequence[float]) -> dict[str, Any]:
    return {
        "label": bare(axis.label),
        "log": axis.log,
        "ticks": [[position, bare(text)] for position, text in axis.ticks],
        "limits": [ends[0], ends[-1]],
        "whole": all(place.is_integer() for place in places),
    }


def _limits(colour: Axis, seen: Sequence[float]) -> list[float]:
    """The ends of the scale of colours; never the same."""
    if colour.limits:
        return list(colour.limits)
    low, high = (min(seen), max(seen)) if seen else (1.0, 1.0)
    if low < high:
        return [low, high]
    return [low / 2, high * 2] if colour.log else [low - (abs(low) / 4 or 1.0), high + (abs(high) / 4 or 1.0)]


def _levels(log: bool, theories: Iterable[Rows]) -> list[float]:
    """Round numbers between the least and the largest value of theory."""
    seen = [value for rows in theories for row in rows for value in row if math.isfinite(value)]
    seen = [value for value in seen if value > 0] if log else seen
    if not seen or not min(seen) < max(seen):
        return []
    low, high = min(seen), max(seen)
    levels: list[float] = []
    if log and high > 4 * low:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digits in DIGITS:
            levels = [digit * 10.0**power for power in powers for digit in digits]
            levels = [level for level in levels if low < level < high]
            if len(levels) <= LEVELS:
                return levels
        return levels[:: math.ceil(len(levels) / LEVELS)]
    size = 10.0 ** math.floor(math.log10((high - low) / LEVELS))
    step = next(size * digit for digit in (1, 2, 5, 10) if size * digit >= (high - low) / LEVELS)
    levels = [float(f"{place * step:.12g}") for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [level for level in levels if low < level < high]


def _contours(panel: Map, levels: Sequence[float]) -> list[dict[str, Any]]:
    """Lines of the same value of theory, as points on the axes; between cells it is taken as linear on its scale."""
    if not panel.theory or not levels or min(len(panel.rows), len(panel.columns)) < 2:
        return []
    # Few figures have contours, and a page that only needs the colours of this room should not wait for NumPy.
    import contourpy  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    ways = [(np.log, np.exp) if axis.log else (np.asarray, np.asarray) for axis in (panel.x, panel.y, panel.colour)]
    across, up = ways[0][0](np.asarray(panel.columns)), ways[1][0](np.asarray(panel.rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = np.ma.masked_invalid(ways[2][0](np.asarray(panel.theory)))
    generator = contourpy.contour_generator(across, up, heights)
    found = []
    for level in levels:
        bare_lines = [np.asarray(line).T for line in generator.lines(float(ways[2][0](level)))]
        lines = [np.stack([ways[0][1](xs), ways[1][1](ys)], axis=1).tolist() for xs, ys in bare_lines]
        if lines:
            found.append({"level": level, "text": f"{level:.4g}", "lines": lines})
    return found
