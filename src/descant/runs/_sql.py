"""The answer to a question in SQL over all runs, through DuckDB; imported when one is asked."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from .._plain import flat
from ._run import Run
from ._store import Store
from ._tables import to_table, union

BASE = pa.schema([("name", pa.string()), ("key", pa.string()), ("state", pa.string()), ("finished", pa.bool_())])
RUN = "run"
# SQL may come from anywhere, so it sees the tables and nothing else: no file, no address, no extension, no variable of
# this program, not even a temporary file. And it can't change that.
CLOSED = {
    "python_enable_replacements": False,
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
    "lock_configuration": True,
}


def answer(sql: str, root: str | Path | None) -> pa.Table:
    """The table that answers; see `query`."""
    runs = Store(root).runs()
    connection = duckdb.connect(config=CLOSED)
    try:
        connection.register("runs", _runs_table(runs))
        # Reading all metrics takes a while: only for questions about them.
        if "metrics" in sql.lower():
            connection.register("metrics", _metrics_table(runs))
        found = connection.sql(sql)
        return pa.table({}) if found is None else found.to_arrow_table()
    except duckdb.Error as error:
        raise ValueError(f"sql can't be answered: {' '.join(str(error).split())}") from None
    finally:
        connection.close()


def _runs_table(runs: list[Run]) -> pa.Table:
    readable = []
    for run in runs:
        try:
            readable.append((run, run.result))
        except (ValueError, OSError):
            continue
    rows = [_base(run, result) for run, result in readable]
    taken = set(BASE.names)
    for prefix, parts in (
        ("config_", [run.config for run, _ in readable]),
        ("result_", [result or {} for _, result in readable]),
    ):
        fields = [flat(part, "_") for part in parts]
        for row, part in zip(rows, fields, strict=True):
            row |= {f"{prefix}{name}" if name in taken else name: value for name, value in part.items()}
        taken |= {name for part in fields for name in part}
    for row, (run, _) in zip(rows, readable, strict=True):
        row |= {f"environment_{name}": value for name, value in run.environment.items()}
    return union([BASE.empty_table(), to_table(rows)])


def _base(run: Run, result: dict[str, Any] | None) -> dict[str, Any]:
    finished = result is not None
    return {"name": run.name, "key": run.key, "state": "finished" if finished else run.state, "finished": finished}


def _metrics_table(runs: list[Run]) -> pa.Table:
    tables = [pa.table({RUN: pa.array([], pa.string())})]
    for run in runs:
        try:
            table = run.metrics()
        except (ValueError, OSError):
            continue
        if RUN in table.column_names:
            table = table.rename_columns([f"{RUN}_" if name == RUN else name for name in table.column_names])
        names: pa.Array[Any] = pa.array([run.name] * table.num_rows, pa.string())
        tables.append(table.add_column(0, RUN, names))
    return union(tables)
