"""Figures and tables as CSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from ..claims import Table
from ..figures import Figure, HeatMap, Panel

_CURVES = ("series", "x", "y", "standard_error")
_CELLS = ("row", "column", "value")


def figure_rows(figure: Figure) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Column names and rows: everything in the figure, also what can't be drawn. A level has no x."""
    curves = any(isinstance(panel, Panel) for panel in figure.panels)
    maps = any(isinstance(panel, HeatMap) for panel in figure.panels)
    columns = ("panel", *(_CURVES if curves else ()), *(_CELLS if maps else ()))
    rows: list[tuple[Any, ...]] = []
    for panel in figure.panels:
        if isinstance(panel, HeatMap):
            blank = ("",) * len(_CURVES) if curves else ()
            for index, values in enumerate(panel.values):
                row = panel.rows[index] if panel.rows else index + 1
                for place, value in enumerate(values):
                    rows.append((panel.title, *blank, row, panel.columns[place] if panel.columns else place + 1, value))
        else:
            blank = ("",) * len(_CELLS) if maps else ()
            for series in panel.series:
                errors = series.error or ("",) * len(series.x)
                for x, y, error in zip(series.x, series.y, errors, strict=True):
                    rows.append((panel.title, series.label, x, y, error, *blank))
            rows += [(panel.title, level.label, "", level.y, "", *blank) for level in panel.baselines]
    return columns, rows


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
