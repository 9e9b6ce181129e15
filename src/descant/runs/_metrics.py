"""Rows of metrics as lines of JSON: while a run is under way, and for good where PyArrow is not installed."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .._plain import flat, line, restored
from ._checkpoint import REMEDY, Mark


def to_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    """The rows, a line each."""
    return "".join(line("rows", row) + "\n" for row in rows).encode()


def read_lines(path: Path, mark: Mark) -> list[dict[str, Any]]:
    """The rows up to the mark; they are whole, however the writing of later ones ended."""
    if mark.size == 0:
        return []
    data = path.read_bytes()[: mark.size]
    if Mark().after(data) != mark:
        raise ValueError(f"{path} is not what its checkpoint counts on, it was changed or damaged; {REMEDY}.")
    return lines_of(data)


def lines_of(data: bytes) -> list[dict[str, Any]]:
    """The rows that `to_lines` wrote."""
    return [restored(json.loads(text)) for text in data.split(b"\n")[:-1]]


def records(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the same names each, in the order in which they first come up; what a row lacks is None.

    >>> records([{"step": 1}, {"step": 2, "risk": {"value": 0.5}}])
    [{'step': 1, 'risk_value': None}, {'step': 2, 'risk_value': 0.5}]
    """
    flattened = [flat(row, "_") for row in rows]
    names = list(dict.fromkeys(name for row in flattened for name in row))
    return [{name: row.get(name) for name in names} for row in flattened]
