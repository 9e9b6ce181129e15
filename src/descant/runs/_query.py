"""SQL over all runs, through DuckDB."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from .._plain import flat
from ._metrics import to_table, union
from ._run import Run
from ._store import Store

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


def query(sql: str, root: str | Path | None = None) -> pa.Table:
    """The answer to a question in SQL about the runs below a folder, finished and under way.

    The table `runs` has a row per run: name, key, state (finished, running or stopped), finished, the config's fields
    (task_d for the d of the task), the result's, and the environment's (environment_device). The table `metrics` has a
    row per row of metrics, with the name of its run in the column `run`. A run that lacks a column has null there; a
    field that is named like an earlier column has `config_` or `result_` before its name. Folders that can't be read
    are left out: `Store.broken` lists them. SQL can read nothing but these two tables, and
    write nothing.

    >>> import tempfile
    >>> query("SELECT count(*) AS runs FROM runs", tempfile.mkdtemp()).to_pylist()
    [{'runs': 0}]
    """
    runs = Store(root).runs()
    connection = duckdb.connect(config=CLOSED)
    try:
        connection.register("runs", _runs_table(runs))
        # Reading all metrics takes a while: only for questions about them.
        if "metrics" in sql.lower():
            connection.register("metrics", _metrics_table(runs))
        answer = connection.sql(sql)
        return pa.table({}) if answer is None else answer.to_arrow_table()
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
