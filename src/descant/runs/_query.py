"""SQL over all runs: the question, and what it takes."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._extras import require

if TYPE_CHECKING:
    import pyarrow as pa


def query(sql: str, root: str | Path | None = None) -> "pa.Table":
    """The answer to a question in SQL about the runs below a folder, finished and under way.

    The table `runs` has a row per run: name, key, state (finished, running or stopped), finished, the config's fields
    (`task_d` for the d of the task), the result's, and the environment's (`environment_device`). The table `metrics`
    has a row per row of metrics, with the name of its run in the column `run`. A run that lacks a column has null
    there; a field that is named like an earlier column has `config_` or `result_` before its name. Folders that can't
    be read are left out: `Store.broken` lists them. SQL can read nothing but these two tables, and write nothing. Takes
    the extra `tables` (DuckDB and PyArrow).

    >>> import tempfile
    >>> query("SELECT count(*) AS runs FROM runs", tempfile.mkdtemp()).to_pylist()
    [{'runs': 0}]
    """
    for package in ("duckdb", "pyarrow"):
        require(package, "a question in SQL about runs")
    from ._sql import answer  # noqa: PLC0415  (an extra)

    return answer(sql, root)
