"""The table of a sweep, `results.parquet`: one row per point, in the order of the grid.

| column | type | what |
|---|---|---|
| `address` | text | the address of the point: the same point has the same in every sweep |
| one per varied field, such as `task.noise` | its own | where the point is; of mixed types, JSON as text |
| `status` | text | `done`, `failed`, or `left` (not tried yet: the sweep was interrupted) |
| `value` | float | the number that was asked for; null unless done |
| `standard_error` | float | 0 if exact; null if unknown |
| `method` | text | how it was found: `exact`, `moments`, `tokens`, or an evaluator's own word |
| `theory` | float | what exact theory says of the same point; null where it says nothing |
| `reason` | text | why the point failed; of others a remark, or empty |
| further ones | their own | what the evaluator tells beside (`Outcome.more`), such as `stopped` |

The schema's metadata has one entry, `descant`: sealed JSON with `format` ("descant-sweep-1"), `name`, `evaluator`,
`code`, `axes` (a list of objects with `fields`, `values`, a list per place of the axis, and `log`), `points` (how many
stand beside the axes) and `base` (fields of all points). Nothing in the file depends on time, machine or executor:
equal sweeps are equal bytes.
"""

import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._plain import line, plain, restored
from .._sealed import sealed, unsealed
from ._outcome import Outcome
from ._plan import Plan
from ._store import Store

FORMAT = "descant-sweep-1"
NAME = "results.parquet"
KEY = b"descant"
FIXED = ("address", "status", "value", "standard_error", "method", "theory", "reason")


def to_table(plan: Plan, outcomes: Mapping[str, Outcome], name: str = "") -> pa.Table:
    """The table of a plan and what came of its points so far; `name` is that of the sweep."""
    rows = [(address, point, outcomes.get(address)) for address, point in plan.points.items()]
    told = [outcome or Outcome() for _, _, outcome in rows]
    columns: dict[str, pa.Array] = {"address": pa.array([address for address, _, _ in rows], pa.string())}
    for field in plan.grid.varied:
        columns[field] = _column([point.get(field) for _, point, _ in rows])
    status = ["left" if outcome is None else "done" if outcome.done else "failed" for _, _, outcome in rows]
    columns["status"] = pa.array(status, pa.string())
    for column in FIXED[2:]:
        sort = pa.string() if column in ("method", "reason") else pa.float64()
        columns[column] = pa.array([getattr(outcome, column) for outcome in told], sort)
    for extra in dict.fromkeys(each for outcome in told for each in outcome.more):
        if extra not in columns:
            columns[extra] = _column([outcome.more.get(extra) for outcome in told])
    return pa.table(columns).replace_schema_metadata({KEY: sealed("sweep", _about(plan, name), line)})


def write_table(store: Store, name: str, table: pa.Table) -> str:
    """Write the table of a sweep; its place. What stands there and is no table of ours is not written over."""
    path = f"{name}/{NAME}"
    there = store.read(path)
    if there is not None:
        _read(there, store.place(path), "choose another name for the grid file, or another folder with --out")
    file = io.BytesIO()
    pq.write_table(table, file)
    store.write(path, file.getvalue())
    return store.place(path)


def read_table(place: str) -> tuple[pa.Table, dict[str, Any]]:
    """The table in a file, or in the folder of a sweep, and what its metadata says; a `ValueError` if it is none.

    `place` is a path, or an address that fsspec knows.
    """
    folder, _, file = place.rstrip("/").rpartition("/")
    if not file.endswith(".parquet"):
        folder, file = place.rstrip("/"), NAME
    content = Store(folder or ("/" if place.startswith("/") else ".")).read(file)
    if content is None:
        raise ValueError(f"{place} holds no {NAME}; expected the folder of a sweep, as descant sweep names it.")
    return _read(content, place, "run the same sweep again, and it is written anew")


def _read(content: bytes, place: str, remedy: str) -> tuple[pa.Table, dict[str, Any]]:
    try:
        table = pq.read_table(pa.BufferReader(content))
        about = restored(unsealed((table.schema.metadata or {}).get(KEY, b"{}")))
        if about.get("format") != FORMAT:
            raise ValueError(f"it is not of the format {FORMAT!r}")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{place} is no table of a sweep: {error}; {remedy}.") from None
    return table, about


def _about(plan: Plan, name: str) -> dict[str, Any]:
    axes = [
        {"fields": list(axis.fields), "values": [list(place) for place in axis.values], "log": axis.log}
        for axis in plan.grid.axes
    ]
    return {
        "format": FORMAT,
        "name": name,
        "evaluator": plan.evaluator.reference,
        "code": plan.code,
        "axes": axes,
        "points": len(plan.grid.points),
        "base": plain("base", dict(plan.grid.base)),
    }


def _column(values: list[Any]) -> pa.Array:
    """Values of one type as they are; of mixed types as JSON."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else line("value", value) for value in values], pa.string())
