"""The picture of a sweep: curves, or a map by colour, of one column of its table."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..figures import Axis, Figure, Map, Panel, Series
from ._directions import Direction, directions, words
from ._view import Layout, View, laid_out
from ._winners import SEVERAL, winner

# A scale is logarithmic if the largest value is so many times the least.
WIDE = 30.0
# Panels side by side.
ACROSS = 3
Row = Mapping[str, Any]
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure, and sentences on what it shows and leaves out."""

    figure: Figure
    notes: tuple[str, ...]


def picture(table: pa.Table, about: Mapping[str, Any], view: View | None = None, meaning: str = "value") -> Picture:
    """The picture of a sweep's table, see `read_table`; `meaning` is what its values are called.

    Axes that a `View` leaves out are chosen: long ones are those of the picture, short ones make curves and panels,
    and what is left over is held at its first place, which is said. A `ValueError` says what can't be drawn.
    """
    view = View() if view is None else view
    if not table.num_rows:
        raise ValueError("the table of the sweep has no points; run it again with descant sweep.")
    _numeric(table, view.column)
    layout = laid_out(view, directions(table, about))
    rows = [row for row in table.to_pylist() if all(_at(row, each) == place for each, place in layout.held)]
    seen = [row[view.column] for row in rows if row["status"] == "done" and _finite(row[view.column])]
    log = _wide(seen) if view.log is None else view.log
    label = meaning if view.column == "value" else words(view.column)
    value = Axis(label if layout.best is None else f"least {label}", log=log and layout.best is None)
    drawn = _map if layout.y is not None else _curves
    panels = [drawn(title, layout, own, value, view.column) for title, own in _parted(layout.panels, rows)]
    notes = [*_notes(rows, table, layout, view.column, seen if value.log else None)]
    figure = Figure(
        name=about["name"] or "sweep",
        title=_title(layout, label, about),
        see=" ".join(notes),
        panels=tuple(panels),
        columns=min(len(panels), ACROSS),
        shared=layout.y is None,
    )
    return Picture(figure, tuple(notes))


def _parted(direction: Direction | None, rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows at each place of an axis, with the place in words; all of them if there is no axis."""
    if direction is None:
        yield "", list(rows)
        return
    for place in direction.places:
        own = [row for row in rows if _at(row, direction) == place]
        yield f"{direction.label} {direction.text(place)}", own


def _numeric(table: pa.Table, column: str) -> None:
    kinds = {name: table.schema.field(name).type for name in table.column_names}
    names = table.column_names[table.column_names.index("status") + 1 :]
    numeric = [name for name in names if pa.types.is_floating(kinds[name]) or pa.types.is_integer(kinds[name])]
    if column not in numeric:
        raise ValueError(f"--column is {column!r}; expected a column of numbers: {', '.join(numeric)}.")


def _at(row: Row, direction: Direction) -> tuple[Any, ...]:
    return tuple(row[field] for field in direction.fields)


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _wide(seen: Sequence[float]) -> bool:
    return bool(seen) and min(seen) > 0 and max(seen) > WIDE * min(seen)


def _map(title: str, layout: Layout, rows: Sequence[Row], value: Axis, column: str) -> Map:
    assert layout.y is not None
    x, columns = layout.x.drawn()
    y, heights = layout.y.drawn()
    there: dict[str, list[Row]] = {}
    for row in rows:
        there.setdefault(repr((_at(row, layout.y), _at(row, layout.x))), []).append(row)
    cells = [[there.get(repr((up, across)), []) for across in layout.x.places] for up in layout.y.places]
    failed = [
        (index, place)
        for index, line in enumerate(cells)
        for place, cell in enumerate(line)
        if any(row["status"] == "failed" for row in cell)
    ]
    errors: Rows = ()
    theory: Rows = ()
    names: tuple[str, ...] = ()
    if layout.best is not None:
        best = layout.best
        values = _matrix(cells, lambda cell: winner(best, cell, column))
        names = tuple(best.text(place) for place in best.places)
        several = any(value == len(names) for line in values for value in line)
        names = (*names, SEVERAL) if several else names
    else:
        values = _matrix(cells, lambda cell: _only(cell, column))
        if column == "value":
            errors = _told(_matrix(cells, lambda cell: _only(cell, "standard_error")), without=0.0)
            theory = _told(_matrix(cells, lambda cell: _only(cell, "theory")))
    return Map(title, x, y, tuple(columns), tuple(heights), values, value, names, errors, theory, tuple(failed))


def _told(numbers: Rows, without: float | None = None) -> Rows:
    """The numbers, if there are any beside NaN and what goes `without` saying."""
    told = any(math.isfinite(number) and number != without for line in numbers for number in line)
    return numbers if told else ()


def _matrix(cells: Sequence[Sequence[Sequence[Row]]], number: Callable[[Sequence[Row]], float]) -> Rows:
    return tuple(tuple(number(cell) for cell in line) for line in cells)


def _only(cell: Sequence[Row], column: str) -> float:
    """The number of a cell's point; points that are not done, or not there, have none."""
    for row in cell:
        if row["status"] == "done" and row[column] is not None:
            return float(row[column])
    return math.nan


def _curves(title: str, layout: Layout, rows: Sequence[Row], value: Axis, column: str) -> Panel:
    x, positions = layout.x.drawn()
    where = dict(zip(map(repr, layout.x.places), positions, strict=True))
    series, failed = [], []
    for place, own in _parted(layout.colour, rows):
        label = place or value.label
        own.sort(key=lambda row: where[repr(_at(row, layout.x))])
        done = [row for row in own if row["status"] == "done" and row[column] is not None]
        failed += [where[repr(_at(row, layout.x))] for row in own if row["status"] == "failed"]
        errors = [row["standard_error"] or 0.0 for row in done] if column == "value" else []
        at = tuple(where[repr(_at(row, layout.x))] for row in done)
        exact = [row for row in done if column == "value" and row["theory"] is not None]
        series.append(
            Series(label, at, tuple(row[column] for row in done), tuple(errors) if any(errors) else (), family=label)
        )
        if any(not math.isclose(row["theory"], row[column], rel_tol=1e-9) for row in exact):
            its = tuple(where[repr(_at(row, layout.x))] for row in exact)
            theory = tuple(row["theory"] for row in exact)
            series.append(Series(f"{label}: exact theory", its, theory, style="dashed", family=label))
    return Panel(title, x, value, tuple(series), failed=tuple(sorted(set(failed))))


def _title(layout: Layout, label: str, about: Mapping[str, Any]) -> str:
    axes = [layout.x.label, *([layout.y.label] if layout.y else [])]
    what = label if layout.best is None else f"which has the least {label} ({layout.best.label})"
    name = about["name"]
    return f"{name + ': ' if name else ''}{what} over {' and '.join(axes)}"


def _notes(
    rows: Sequence[Row], table: pa.Table, layout: Layout, column: str, logarithmic: Sequence[float] | None
) -> Iterator[str]:
    """Sentences on what is held, how exact the values are, and what is missing."""
    if layout.held:
        held = ", ".join(f"{each.label} = {each.text(place)}" for each, place in layout.held)
        hint = "; hold it elsewhere with --where" if layout.chosen else ""
        yield f"Held: {held} ({len(rows)} of {table.num_rows} points{hint})."
    done = [row for row in rows if row["status"] == "done"]
    methods = Counter(row["method"] or "unknown" for row in done)
    if column == "value" and done:
        if set(methods) == {"exact"}:
            yield f"All {len(done)} values are exact." if len(done) > 1 else "The value is exact."
        else:
            counts = ", ".join(f"{count} {method}" for method, count in methods.most_common())
            shares = [row["standard_error"] / abs(row["value"]) for row in done if _error(row)]
            largest = f"; standard errors are at most {max(shares):.2g} of a value" if shares else ""
            yield f"{len(done)} values ({counts}){largest}."
    if layout.best is not None:
        yield f"“{SEVERAL}”: the least two are equal to rounding, or within three standard errors of each other."
    counts = Counter(row["status"] for row in rows)
    for status, what in (("failed", "failed (crosses)"), ("left", "are not computed yet (blank)")):
        if counts[status]:
            yield f"{counts[status]} of {len(rows)} points {what}."
    infinite = sum(not _finite(row[column]) for row in done)
    if infinite:
        yield f"{infinite} values are not finite, and are not drawn."
    below = sum(value <= 0 for value in logarithmic or ())
    if below:
        yield f"{below} values are not positive, and can't be drawn on a logarithmic scale; --no-log draws them."


def _error(row: Row) -> bool:
    return _finite(row["standard_error"]) and _finite(row["value"]) and row["value"] and row["standard_error"] > 0
