"""Figures and tables as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from typing import Any

from ..claims import Table
from ..figures import Figure, HeatMap, Map, Panel


def figure_rows(figure: Figure) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Column names and rows: everything in the figure, also what can't be drawn. A level has no x."""
    named = [{"panel": panel.title, **row} for panel in figure.panels for row in _rows(panel)]
    # The columns of curves first, whatever comes first in the figure.
    columns = tuple(dict.fromkeys(column for row in sorted(named, key=lambda row: "row" in row) for column in row))
    return columns, [tuple(row.get(column, "") for column in columns) for row in named]


def _rows(panel: Panel | HeatMap | Map) -> Iterator[dict[str, Any]]:
    """The rows of a panel, each cell by the name of its column."""
    if isinstance(panel, HeatMap):
        for index, values in enumerate(panel.values):
            row = panel.rows[index] if panel.rows else index + 1
            for place, value in enumerate(values):
                yield {"row": row, "column": panel.columns[place] if panel.columns else place + 1, "value": value}
    elif isinstance(panel, Map):
        yield from _cells(panel)
    else:
        for series in panel.series:
            errors = series.error or ("",) * len(series.x)
            for x, y, error in zip(series.x, series.y, errors, strict=True):
                yield {"series": series.label, "x": x, "y": y, "standard_error": error}
        for level in panel.baselines:
            yield {"series": level.label, "x": "", "y": level.y, "standard_error": ""}
        for place in panel.failed:
            yield {"series": "failed", "x": place, "y": "", "standard_error": ""}


def _cells(panel: Map) -> Iterator[dict[str, Any]]:
    across, up = dict(panel.x.ticks), dict(panel.y.ticks)
    failed = set(panel.failed)
    for row, y in enumerate(panel.rows):
        for column, x in enumerate(panel.columns):
            value = panel.values[row][column]
            named = panel.names[int(value)] if panel.names and math.isfinite(value) else value
            cell = {"x": across.get(x, x), "y": up.get(y, y), "value": "" if math.isnan(value) else named}
            for name, matrix in (("standard_error", panel.errors), ("theory", panel.theory)):
                if matrix:
                    cell[name] = "" if math.isnan(matrix[row][column]) else matrix[row][column]
            if failed:
                cell["failed"] = "failed" if (row, column) in failed else ""
            yield cell


def figure_csv(figure: Figure) -> str:
    """The numbers of a figure."""
    return _csv(*figure_rows(figure))


def table_csv(table: Table) -> str:
    """A table; a column of standard errors says whose they are."""
    names = [
        f"{table.columns[index - 1]} standard_error" if name == "±" and index else name
        for index, name in enumerate(table.columns)
    ]
    return _csv(names, table.rows)


def _csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return text.getvalue()
