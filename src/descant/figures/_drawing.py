"""A figure made ready: what the script in the page and matplotlib both draw, so that the two agree.

Colours and symbols are chosen here, limits of the axes, places of bars; what can't be drawn (not finite, or not
positive on a logarithmic axis) is left out and counted.
"""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ._bare import bare
from ._data import Axis, Figure, HeatMap, Map, Panel, Series
from ._maps import ready_maps
from ._palette import BASELINES, LIGHT, SYMBOLS

# A curve whose values differ by less than this share of their size is drawn flat: its wiggles are rounding.
FLAT = 1e-6
# Share of the space between two positions that bars take.
BARS = 0.8
PADDING = 0.05
# The radius of dots where there is one series of them, and the largest and the least where there are more.
DOT, DOTS = 4.0, (5.2, 3.0)
DOTTED = ("points", "both")
# Points from which the standard errors of a line are a band.
BAND_FROM = 40
Looks = dict[tuple[str, str], dict[str, int]]


def drawing(figure: Figure) -> dict[str, Any]:
    """Everything that is drawn, as plain values that JSON can hold: what `figures.static` and the report's script draw.

    **Returns:** `name`, `title`, `columns`, the `panels` with their series, axes and limits, the `legend`, whether
    there are `errors`, and how many points were `dropped` because they can't be drawn.
    """
    looks = _looks(figure)
    maps = iter(ready_maps([panel for panel in figure.panels if isinstance(panel, Map)]))
    panels = [
        next(maps) if isinstance(panel, Map) else _heat_map(panel) if isinstance(panel, HeatMap)
        else _panel(panel, looks)
        for panel in figure.panels
    ]  # fmt: skip
    columns = max(1, min(figure.columns, len(figure.panels)))
    if figure.shared:
        for start in range(0, len(panels), columns):
            _share_axes(panels[start : start + columns])
    return {
        "name": figure.name,
        "title": bare(figure.title),
        "columns": columns,
        "panels": panels,
        "legend": _legend(panels),
        "errors": any(row[4] for panel in panels for series in panel.get("series", ()) for row in series["rows"]),
        "dropped": sum(panel.get("dropped", 0) for panel in panels),
    }


def _looks(figure: Figure) -> Looks:
    """Colour and symbol of each (family, label): a family has one colour, labels within it their own symbols."""
    looks: Looks = {}
    families: dict[str, list[str]] = {}
    for panel in figure.panels:
        if isinstance(panel, Panel):
            for each in (*panel.series, *panel.baselines):
                family = each.family or each.label
                labels = families.setdefault(family, [])
                if each.label not in labels:
                    labels.append(each.label)
                place = list(families).index(family)
                looks[family, each.label] = {
                    "colour": place % len(LIGHT),
                    "symbol": (place + labels.index(each.label)) % len(SYMBOLS),
                }
    return looks


def _panel(panel: Panel, looks: Looks) -> dict[str, Any]:
    bars = [series for series in panel.series if series.style == "bars"]
    ready, dropped = [], 0
    sizes = iter(_sizes(sum(series.style in DOTTED for series in panel.series)))
    for series in panel.series:
        rows = [
            (x, y, series.error[index] if series.error else 0.0)
            for index, (x, y) in enumerate(zip(series.x, series.y, strict=True))
            if _drawn(panel.x, x) and _drawn(panel.y, y)
        ]
        dropped += len(series.x) - len(rows)
        edges = [_edges(panel, bars, series, x) if series.style == "bars" else (0.0, 0.0) for x, _, _ in rows]
        ready.append(
            {
                "label": bare(series.label),
                "style": series.style,
                **looks[series.family or series.label, series.label],
                "size": next(sizes) if series.style in DOTTED else 0.0,
                "listed": series.listed,
                "rows": [_row(row, its) for row, its in zip(rows, edges, strict=True)],
            }
        )
    baselines = [
        {
            "label": bare(baseline.label),
            **looks[baseline.family or baseline.label, baseline.label],
            "dash": list(BASELINES[index % len(BASELINES)]),
            "listed": baseline.listed,
            "y": baseline.y,
        }
        for index, baseline in enumerate(panel.baselines)
        if _drawn(panel.y, baseline.y)
    ]
    shaded = [end for end in panel.shaded or () if _drawn(panel.x, end)]
    failed = [place for place in panel.failed if _drawn(panel.x, place)]
    across = [end for each in ready for row in each["rows"] for end in (row[0], *row[5:7])] + shaded + failed
    for position, _ in panel.x.ticks:
        room = _space(panel, bars, position) / 2 if bars else 0.0
        across += [position - room, position + room]
    upwards = [end for each in ready for row in each["rows"] for end in row[1:4]]
    upwards += [baseline["y"] for baseline in baselines] + ([0.0] if bars and not panel.y.log else [])
    y = _limits(panel.y, upwards, PADDING, at_zero=bool(bars))
    for each in ready:
        for row in each["rows"]:
            row[2:4] = [min(max(end, y[0]), y[1]) for end in row[2:4]]
    x = _axis(panel.x, _limits(panel.x, across, PADDING / 2), [row[0] for each in ready for row in each["rows"]])
    for each in ready:
        each["curved"] = not x["whole"] and _curved(each)
    return {
        "kind": "plot",
        "title": bare(panel.title),
        "x": x,
        "y": _axis(panel.y, y),
        "series": ready,
        "baselines": baselines,
        "shaded": shaded if len(shaded) == 2 else None,
        "failed": failed,
        "dropped": dropped + len(panel.baselines) - len(baselines),
    }


def _curved(series: dict[str, Any]) -> bool:
    """Whether a line through few points stands for a curve: it is drawn without kinks, and without new hills."""
    places = [row[0] for row in series["rows"]]
    rising = all(left < right for left, right in pairwise(places))
    return series["style"] in ("line", "dashed") and 2 < len(places) < BAND_FROM and rising


def _sizes(count: int) -> list[float]:
    """Radii of the dots of some series, smaller and smaller: one that lies under another is seen around it."""
    return [DOTS[0] + (DOTS[1] - DOTS[0]) * index / max(1, count - 1) if count > 1 else DOT for index in range(count)]


def _share_axes(panels: list[dict[str, Any]]) -> None:
    for name in ("x", "y"):
        ends = [panel[name]["limits"] for panel in panels]
        for panel in panels:
            panel[name]["limits"] = [min(low for low, _ in ends), max(high for _, high in ends)]


def _row(row: tuple[float, float, float], edges: tuple[float, float]) -> list[float | None]:
    """x, y, both ends of the error bar, the standard error, both edges of a bar."""
    x, y, error = row
    finite = error if math.isfinite(error) else 0.0
    # An infinite standard error is no bar, but is still told.
    return [x, y, y - finite, y + finite, error if math.isfinite(error) else None, x + edges[0], x + edges[1]]


def _edges(panel: Panel, bars: list[Series], series: Series, x: float) -> tuple[float, float]:
    """Edges of a bar around its position: bars of several series stand side by side."""
    space = BARS * _space(panel, bars, x)
    width, place = space / len(bars), bars.index(series)
    return place * width - space / 2, (place + 1) * width - space / 2


def _space(panel: Panel, bars: list[Series], x: float) -> float:
    """What the bars at one position may take: as much as there is between the two closest positions."""
    positions = sorted({value for each in bars for value in each.x if _drawn(panel.x, value)})
    space = min((right - left for left, right in pairwise(positions)), default=1.0)
    # On a logarithmic axis positions are seldom evenly spaced, and the left edge must stay above zero.
    return min(space, x / 2) if panel.x.log else space


def _heat_map(panel: HeatMap) -> dict[str, Any]:
    finite = [abs(value) for row in panel.values for value in row if math.isfinite(value)]
    rows = panel.rows or tuple(str(index + 1) for index in range(len(panel.values)))
    columns = panel.columns or tuple(str(index + 1) for index in range(len(panel.values[0]) if panel.values else 0))
    return {
        "kind": "heat",
        "title": bare(panel.title),
        "values": [[value if math.isfinite(value) else None for value in row] for row in panel.values],
        "rows": [bare(name) for name in rows],
        "columns": [bare(name) for name in columns],
        "limit": max(finite, default=0.0) or 1.0,
        "dropped": sum(len(row) for row in panel.values) - len(finite),
    }


def _drawn(axis: Axis, value: float) -> bool:
    low, high = axis.limits or (-math.inf, math.inf)
    return math.isfinite(value) and (value > 0 or not axis.log) and low <= value <= high


def _axis(axis: Axis, limits: tuple[float, float], values: Iterable[float] = ()) -> dict[str, Any]:
    values = list(values)
    return {
        # Heads, layers, iterations: no ticks in between.
        "whole": bool(values) and all(value.is_integer() for value in values),
        "label": bare(axis.label),
        "log": axis.log,
        "ticks": [[position, bare(text)] for position, text in axis.ticks],
        "limits": list(limits),
    }


def _limits(axis: Axis, values: Iterable[float], padding: float, at_zero: bool = False) -> tuple[float, float]:
    """From the least to the largest, with a margin; wide enough that rounding doesn't look like structure."""
    seen = [value for value in values if _drawn(axis, value)]
    if axis.limits:
        return axis.limits
    if not seen:
        return (0.1, 1.0) if axis.log else (0.0, 1.0)
    low, high = min(seen), max(seen)
    if axis.log:
        if high / low < 1 + FLAT:
            return low / 2, high * 2
        margin = (high / low) ** padding
        return low / margin, high * margin
    size = max(abs(low), abs(high))
    margin = padding * (high - low) if high - low > FLAT * size else 0.25 * size or 1.0
    # Bars stand on zero, not above it.
    return (0.0 if at_zero and low == 0 else low - margin), (0.0 if at_zero and high == 0 else high + margin)


def _legend(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each label once, in the order in which it appears."""
    entries: dict[str, dict[str, Any]] = {}

    def listed(panel: dict[str, Any], what: str) -> list[dict[str, Any]]:
        return [each for each in panel.get(what, ()) if each["listed"]]

    for panel in panels:
        for each in listed(panel, "series"):
            entry = {name: each[name] for name in ("label", "style", "colour", "symbol")}
            entries.setdefault(repr(entry), entry)
        for each in listed(panel, "baselines"):
            entry = {"style": "baseline", **{name: each[name] for name in ("label", "colour", "symbol", "dash")}}
            entries.setdefault(repr(entry), entry)
        for index, name in enumerate(panel.get("names", ())):
            entry = {"style": "bars", "label": name, "colour": index % len(LIGHT), "symbol": 0}
            entries.setdefault(repr(entry), entry)
    for style, label, what in (("contour", "exact theory", "contours"), ("failed", "failed", "failed")):
        if any(panel.get(what) for panel in panels):
            entries[style] = {"style": style, "label": label, "colour": 0, "symbol": 0}
    return list(entries.values())
