"""`descant sweep`: a question at every point of a grid, each point once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from .._counted import counted
from ._flags import Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..sweeps import Plan, Progress, Store

# Points that failed, or groups, beyond these are counted, not listed.
SHOWN = 10
FAILED = 1
# Ours by their names; others are module:name.
OURS = {"risk": "descant.cli._points:RISK", "train": "descant.cli._trainings:TRAIN"}
WHAT = "the points are done"


def sweep(
    grid: Path,
    /,
    *,
    executor: Literal["local", "processes", "ray"] = "processes",
    workers: int | None = None,
    address: str | None = None,
    out: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
) -> int:
    """Answer a question at every point of a grid, and keep every answer: a finished point is never computed again.

    The grid is a TOML file: fields of task, model and training, axes of them, single points. Answers are the same to
    the last bit whoever computed them. A point that fails is listed with its reason, and stops no other; next time it
    is tried again. The table of all points is results.parquet in the sweep's folder.

    Parameters
    ----------
    grid
        The grid file; the sweep has its name.
    executor
        Who works: this process (local), processes of this machine, or ray.
    workers
        How many processes, or workers of Ray; left out, one per core.
    address
        A running Ray cluster, auto or host:port; left out, Ray is started on this machine for as long as it takes.
    out
        Folder of sweeps, or an address that fsspec knows, such as s3://bucket/sweeps; left out, the one in the
        environment variable DESCANT_SWEEPS, else ./sweeps.
    dry_run
        Say how many points there are, in which groups, and how many are kept already; compute nothing.
    """
    from .. import _check
    from .._names import file_name
    from ..sweeps import EXECUTORS, Store, default_root, find_evaluator, make_plan, read_grid, run_sweep

    if workers is not None:
        _check.size("--workers", workers)
        if executor == "local":
            raise ValueError(f"--workers is {workers}, but this process is one; leave it out, or --executor processes.")
    if address is not None and executor != "ray":
        raise ValueError(f"--address is {address!r}, but the executor is {executor}; add --executor ray.")
    if out == "":
        raise ValueError("--out is empty; expected a folder.")
    asked, name = read_grid(grid), file_name("name of the grid file", grid.stem)
    plan = make_plan(asked, find_evaluator(_reference(asked.evaluator)))
    store = Store(out if out is not None else default_root())
    if dry_run:
        _show_plan(plan, store, name, json)
        return 0
    store.check()
    from .._signals import uninterrupted
    from .._watching import watching

    told, progress = watching.get(), None
    team = EXECUTORS[executor](workers, address)
    _say(json, f"{counted(len(plan.points), 'point')}, {counted(len(plan.groups), 'group')}; {team.in_words()}")
    try:
        for progress in run_sweep(plan, store, team):
            told(progress.share, WHAT)
    finally:
        with uninterrupted():
            team.close()
            if progress is not None:
                _write(plan, progress, store, name)
    assert progress is not None
    _show(plan, progress, store, name, json)
    return FAILED if progress.failed else 0


def _reference(evaluator: str) -> str:
    if evaluator in OURS:
        return OURS[evaluator]
    if ":" not in evaluator:
        raise ValueError(f"evaluator is {evaluator!r}; expected {' or '.join(OURS)}, or your own as module:name.")
    return evaluator


def _write(plan: "Plan", progress: "Progress", store: "Store", name: str) -> str:
    from ..sweeps import to_table, write_table

    return write_table(store, name, to_table(plan, progress.outcomes, name))


def _show_plan(plan: "Plan", store: "Store", name: str, json: bool) -> None:
    kept = store.find(plan.points)
    sizes = {shape or "all points": len(addresses) for shape, addresses in plan.groups.items()}
    left = len(plan.points) - len(kept)
    if json:
        jobs = len(plan.jobs(without=kept))
        print_json(
            "sweep",
            {"name": name, "points": len(plan.points), "found": len(kept), "left": left, "jobs": jobs, "groups": sizes},
        )
        return
    repeated = plan.grid.count - len(plan.points)
    twice = f" ({repeated} are in the grid twice)" if repeated else ""
    points, groups = counted(len(plan.points), "point"), counted(len(sizes), "group")
    print(f"{points}{twice}, {len(kept)} of them kept already, {left} left; {groups}:")
    for shape, count in list(sizes.items())[:SHOWN]:
        print(f"  {count} of {shape}")
    if len(sizes) > SHOWN:
        print(f"  and {len(sizes) - SHOWN} more")


def _show(plan: "Plan", progress: "Progress", store: "Store", name: str, json: bool) -> None:
    place = store.place(f"{name}/results.parquet")
    varied = plan.grid.varied
    failed: list[dict[str, Any]] = [
        {"point": {field: plan.points[address].get(field) for field in varied}, "reason": outcome.reason}
        for address, outcome in progress.failed.items()
    ]
    done = progress.total - len(failed)
    if json:
        counts = {"points": progress.total, "done": done, "found": progress.found, "failed": failed}
        print_json("sweep", {"name": name, "table": place, **counts})
        return
    found = f", {progress.found} of them found" if progress.found else ""
    verb = "is" if progress.total == 1 else "are"
    print(f"{done} of {counted(progress.total, 'point')} {verb} done{found}; the table is {place}")
    for each in failed[:SHOWN]:
        where = ", ".join(f"{field} = {value}" for field, value in each["point"].items()) or "the point"
        print(f"failed: {where}: {each['reason']}")
    if len(failed) > SHOWN:
        print(f"and {len(failed) - SHOWN} more failed; the table has their reasons")


def _say(quiet: bool, sentence: str) -> None:
    if not quiet:
        from rich.console import Console

        Console().print(sentence, style="dim", highlight=False)
