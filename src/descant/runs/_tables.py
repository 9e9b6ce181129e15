"""Rows of metrics as tables: Parquet files of finished runs, and unions of them. PyArrow is an extra."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._plain import line, plain
from ._checkpoint import REMEDY
from ._metrics import records


def to_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows as columns, in the order in which their names first come up; what a row lacks is null.

    >>> to_table([{"step": 1}, {"step": 2, "risk": 0.5}]).to_pylist()
    [{'step': 1, 'risk': None}, {'step': 2, 'risk': 0.5}]
    """
    found = records(rows)
    return pa.table({name: _column([row[name] for row in found]) for name in (found[0] if found else ())})


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return _as_text(values)


def _as_text(values: list[Any]) -> pa.Array:
    """What has no type in common, as JSON."""
    texts = [value if value is None or isinstance(value, str) else line("rows", value) for value in values]
    return pa.array(texts, pa.string())


def to_parquet(table: pa.Table) -> bytes:
    """The bytes of a Parquet file; equal tables are equal bytes."""
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def read_parquet(path: Path) -> pa.Table:
    """The table in a file."""
    try:
        return pq.read_table(pa.BufferReader(path.read_bytes()))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} can't be read: {error}; {REMEDY}.") from None


def union(tables: Sequence[pa.Table]) -> pa.Table:
    """One table below the other, by the names of columns; those that have no type in common become text."""
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        names = dict.fromkeys(name for table in tables for name in table.column_names)
        mixed = [name for name in names if not _fit([table for table in tables if name in table.column_names], name)]
        return pa.concat_tables([_with_text(table, mixed) for table in tables], promote_options="permissive")


def _fit(tables: list[pa.Table], name: str) -> bool:
    try:
        pa.concat_tables([table.select([name]) for table in tables], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _with_text(table: pa.Table, names: list[str]) -> pa.Table:
    for name in names:
        if name in table.column_names:
            values = [plain(name, value) for value in table[name].to_pylist()]
            table = table.set_column(table.column_names.index(name), name, _as_text(values))
    return table
