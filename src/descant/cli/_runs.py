"""`descant runs`: what was run, how runs differ, and deleting them."""

import json as json_module
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

if TYPE_CHECKING:
    from ..runs import Broken, Run

app = App(name="runs", help="List the runs on disk; compare and delete them.")

# Cells of the table longer than these are cut; `compare` and --json show everything.
LONGEST_TASK = 36
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))

Root = Annotated[Path | None, Parameter(show_default=False)]
Json = Annotated[bool, Parameter(negative="")]


@app.default
def show(*, root: Root = None, json: Json = False) -> None:
    """List the runs on disk, the latest first.

    Parameters
    ----------
    root
        Folder of the runs; left out, the one in the environment variable DESCANT_RUNS, else ./runs.
    json
        Print a JSON list instead of a table.
    """
    from ..runs import Store

    store = Store(root)
    broken = store.broken()
    without = {each.folder for each in broken}
    runs = sorted((run for run in store.runs() if run.folder not in without), key=lambda run: -run.updated)
    if json:
        _print_json([_described(run) for run in runs])
    elif runs:
        _print_runs(runs)
    else:
        print(f"There are no runs in {store.root}.")
    if not json:
        _print_broken(broken)


@app.command
def compare(*names: str, root: Root = None, json: Json = False) -> None:
    """Show in which fields of their configs runs differ, and what came out.

    Parameters
    ----------
    names
        Names of two or more runs, or the beginnings of their names.
    root
        Folder of the runs; left out, the one in the environment variable DESCANT_RUNS, else ./runs.
    json
        Print one JSON object instead of a table.
    """
    from .._plain import flat
    from ..runs import Store

    if len(names) < 2:
        raise ValueError(f"names is {' '.join(names)!r}; expected the names of two or more runs.")
    store = Store(root)
    runs = {run.name: run for run in map(store.get, names)}
    configs = {name: flat(run.config, ".") for name, run in runs.items()}
    results = {name: flat(run.result or {}, ".") for name, run in runs.items()}
    config = {
        field: values for field, values in _by_field(configs).items() if len(set(map(_text, values.values()))) > 1
    }
    result = _by_field(results)
    if json:
        _print_json({"config": config, "result": result})
    else:
        _print_comparison(list(runs), config, result)


@app.command
def delete(*names: str, root: Root = None, yes: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Delete runs, unless a process is working on them.

    Parameters
    ----------
    names
        Full names of the runs.
    root
        Folder of the runs; left out, the one in the environment variable DESCANT_RUNS, else ./runs.
    yes
        Don't ask.
    """
    from ..runs import Store

    if not names:
        raise ValueError("names is empty; expected the names of runs: `descant runs` lists them.")
    store = Store(root)
    by_name = {run.name: run for run in store.runs()}
    for name in names:
        if name not in by_name:
            raise ValueError(
                f"name is {name!r}; {store.root} has no run of that name: `descant runs` lists them, and a folder that "
                "is no run is not deleted from here."
            )
        if by_name[name].state == "running":
            raise ValueError(f"another process is working on the run {name}; stop it first. Nothing was deleted.")
    if not yes and not _confirmed(names, store.root):
        print("Nothing was deleted.")
        return
    for name in dict.fromkeys(names):
        store.delete(by_name[name])
        print(f"Deleted {name}.")


def _confirmed(names: tuple[str, ...], root: Path) -> bool:
    if not sys.stdin.isatty():
        raise ValueError("yes is not given and there is no terminal to ask on; expected --yes. Nothing was deleted.")
    return input(f"Delete {', '.join(names)} in {root}? [y/N] ").strip().lower() in ("y", "yes")


def _described(run: "Run") -> dict[str, Any]:
    return {
        **{"name": run.name, "key": run.key, "state": run.state, "code": run.code},
        **{"config": run.config, "environment": run.environment, "result": run.result},
        "updated": run.updated,
    }


def _print_json(value: Any) -> None:
    from .._plain import page

    print(page("runs", value), end="")


def _by_field(parts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """{run: {field: value}} as {field: {run: value}}; a field that a run lacks is null there."""
    fields = dict.fromkeys(field for part in parts.values() for field in part)
    return {field: {run: part.get(field) for run, part in parts.items()} for field in fields}


def _print_runs(runs: "list[Run]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("model")
    table.add_column("task")
    table.add_column("state", no_wrap=True)
    table.add_column("risk", justify="right", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    for run in runs:
        risk, error = _risk(run.result or {})
        cells = (run.name, _model(run.config), _task(run.config), run.state, risk, error, _age(run.updated))
        table.add_row(*map(Text, cells), style="dim" if cells[3] == "stopped" else None)
    Console().print(table)


def _print_comparison(names: list[str], config: dict[str, dict[str, Any]], result: dict[str, dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    for name in names:
        table.add_column(Text(name), overflow="fold")
    for title, part in (("config that differs", config), ("result", result)):
        table.add_row(title if part else f"{title}: nothing", style="bold")
        for field, values in part.items():
            table.add_row(Text(f"  {field}"), *(Text(_text(values[name])) for name in names))
    Console().print(table)


def _print_broken(broken: "list[Broken]") -> None:
    for each in broken:
        print(f"Not a run: {each.folder} ({each.reason})")


def _model(config: dict[str, Any]) -> str:
    model = config.get("model", config.get("name", "-"))
    if isinstance(model, dict):
        model = model.get("kind", model.get("name", "-"))
    return _text(model)


def _task(config: dict[str, Any]) -> str:
    """The task in one line: it is the field `task`, or else the numbers d and n are all that is known."""
    task = config.get("task", {name: config[name] for name in ("d", "n", "noise") if name in config})
    if not isinstance(task, dict):
        return _text(task)
    text = " ".join(f"{name}={_text(value)}" for name, value in task.items())
    return text if len(text) <= LONGEST_TASK else text[: LONGEST_TASK - 1] + "…"


def _risk(result: dict[str, Any]) -> tuple[str, str]:
    risk = result.get("risk")
    if isinstance(risk, dict):
        risk, error = risk.get("value"), risk.get("standard_error")
    else:
        error = result.get("standard_error")
    if not isinstance(risk, (int, float)):
        return "-", "-"
    if not isinstance(error, (int, float)):
        return f"{risk:.6g}", "-"
    return f"{risk:.6g}", "exact" if error == 0 else f"{error:.2g}"


def _age(updated: float) -> str:
    seconds = max(0.0, time.time() - updated)
    for unit, length in UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_module.dumps(value)
