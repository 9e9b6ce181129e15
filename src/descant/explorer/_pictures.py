"""A figure that a page shows, as PNG or SVG: drawn again by matplotlib, from the same values."""

import base64
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ._fields import Fields

MOST_PANELS, MOST_SERIES, MOST_ROWS, MOST_SIDE = 12, 40, 2000, 80
MOST_LETTERS = 300
LARGEST = 1e300
STYLES = ("line", "points", "both", "dashed", "bars", "baseline", "failed")


def picture(asked: Any) -> Iterator[dict[str, Any]]:
    """The bytes of a picture."""
    from ..figures.static import pictures

    fields = Fields(asked, "the picture")
    suffix, ready = fields.choice("suffix", ("png", "svg")), checked(fields.part("figure"))
    fields.done()
    yield {"event": "picture", "suffix": suffix, "content": base64.b64encode(pictures(ready)[suffix]).decode()}


def checked(raw: Any) -> dict[str, Any]:
    """What `figures.drawing` gave a page, as it comes back: read field by field, and nothing else."""
    fields = Fields(raw, "the figure")
    panels = [_panel(each) for each in _list(fields.part("panels"), MOST_PANELS, "panels")]
    if not panels:
        raise ValueError("panels is empty; expected one at least.")
    return {
        "name": _words(fields, "name"),
        "title": _words(fields, "title"),
        "columns": fields.whole("columns", 1, MOST_PANELS),
        "panels": panels,
        "legend": [_legend(each) for each in _list(fields.part("legend"), MOST_SERIES, "legend")],
    }


def _panel(raw: Any) -> dict[str, Any]:
    fields = Fields(raw, "a panel")
    if fields.choice("kind", ("plot", "heat")) == "heat":
        return _heat(fields)
    shaded, failed = raw.get("shaded"), raw.get("failed")
    return {
        "kind": "plot",
        "title": _words(fields, "title"),
        "x": _axis(fields.part("x")),
        "y": _axis(fields.part("y")),
        "series": [_series(each) for each in _list(fields.part("series"), MOST_SERIES, "series")],
        "baselines": [_legend(each) | _height(each) for each in _list(fields.part("baselines"), MOST_SERIES, "lines")],
        "shaded": None if shaded is None else fields.numbers("shaded", -LARGEST, LARGEST, 2),
        "failed": fields.numbers("failed", -LARGEST, LARGEST, MOST_ROWS) if failed else (),
    }


def _heat(fields: Fields) -> dict[str, Any]:
    values = [_list(row, MOST_SIDE, "a row") for row in _list(fields.part("values"), MOST_SIDE, "values")]
    if not values or any(len(row) != len(values[0]) or not row for row in values):
        raise ValueError("values has rows of different lengths; expected a matrix.")
    names = {
        name: [_letters(each) for each in _list(fields.part(name), MOST_SIDE, name)] for name in ("rows", "columns")
    }
    if len(names["rows"]) != len(values) or len(names["columns"]) != len(values[0]):
        raise ValueError("rows or columns are not as many as the matrix has; expected a name for each.")
    return {
        "kind": "heat",
        "title": _words(fields, "title"),
        "values": [[None if each is None else _number(each) for each in row] for row in values],
        **names,
        "limit": fields.number("limit", 1e-300, LARGEST),
    }


def _axis(raw: Any) -> dict[str, Any]:
    fields = Fields(raw, "an axis")
    ticks = [_list(each, 2, "a tick") for each in _list(fields.part("ticks"), MOST_SIDE, "ticks")]
    limits = fields.numbers("limits", -LARGEST, LARGEST, 2)
    log = fields.switch("log")
    if len(limits) != 2 or not limits[0] < limits[1] or (log and limits[0] <= 0):
        raise ValueError(f"limits is {list(limits)}; expected two numbers that rise, above zero on a logarithmic axis.")
    return {
        "label": _words(fields, "label"),
        "log": log,
        "whole": fields.switch("whole"),
        "ticks": [(_number(position), _letters(text)) for position, text in ticks],
        "limits": limits,
    }


def _series(raw: Any) -> dict[str, Any]:
    fields = Fields(raw, "a series")
    rows = [_row(each) for each in _list(fields.part("rows"), MOST_ROWS, "rows")]
    return {
        **_legend(raw),
        "curved": fields.switch("curved") and len(rows) > 2 and _rising([row[0] for row in rows]),
        "size": fields.number("size", 0.0, 20.0),
        "rows": rows,
    }


def _rising(places: list[Any]) -> bool:
    return all(left < right for left, right in pairwise(places))


def _row(raw: Any) -> list[float | None]:
    values = _list(raw, 7, "a row")
    if len(values) != 7:
        raise ValueError("a row has not seven numbers; expected x, y, both ends, the error, both edges.")
    return [None if index == 4 and each is None else _number(each) for index, each in enumerate(values)]


def _legend(raw: Any) -> dict[str, Any]:
    fields = Fields(raw, "an entry of the legend")
    dash = _list(raw.get("dash", []), 6, "dash") if isinstance(raw, dict) else []
    return {
        "label": _words(fields, "label"),
        "style": fields.choice("style", STYLES, "baseline"),
        "colour": fields.whole("colour", 0, 7),
        "symbol": fields.whole("symbol", 0, 6),
        "dash": [min(20.0, max(1.0, _number(each))) for each in dash],
    }


def _height(raw: Any) -> dict[str, Any]:
    return {"y": Fields(raw, "a line").number("y", -LARGEST, LARGEST)}


def _list(raw: Any, most: int, name: str) -> list[Any]:
    if not isinstance(raw, list) or len(raw) > most:
        raise ValueError(f"{name} is no list, or has more than {most} parts.")
    return raw


def _number(raw: Any) -> float:
    return Fields({"number": raw}, "the figure").number("number", -LARGEST, LARGEST)


def _words(fields: Fields, name: str) -> str:
    return _letters(fields.text(name, MOST_LETTERS, ""))


def _letters(raw: Any) -> str:
    # A dollar would begin a formula for matplotlib.
    return Fields({"words": raw}, "the figure").text("words", MOST_LETTERS).replace("$", "")
