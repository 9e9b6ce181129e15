"""`descant runs`: what was run, how runs differ, and deleting them."""

import json as json_module
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ._flags import DEFAULTS_SHOWN, Json, Root
from ._printing import error, number, print_json
from ._task import TaskFlags, few

if TYPE_CHECKING:
    from ..runs import Broken, Run

app = App(name="runs", help="List the runs on disk; compare and delete them.", default_parameter=DEFAULTS_SHOWN)

# Longer ones are folded, so that the noise and the risk are seen on 80 columns; a run's own name has 16 letters.
LONGEST_NAME, LONGEST_MODEL = 16, 10
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
# A task is told by these, and by what is not as it is by default.
ALWAYS = ("d", "n", "noise")
DEFAULTS = {field.name: field.default for field in fields(TaskFlags)}


@app.default
def show(*, root: Root = None, json: Json = False) -> None:
    """List the runs on disk, the latest first."""
    from ..runs import Store

    store = Store(root)
    broken = store.broken()
    without = {each.folder for each in broken}
    runs = sorted((run for run in store.runs() if run.folder not in without), key=lambda run: -run.updated)
    if json:
        broken_ones = [{"folder": str(each.folder), "reason": each.reason} for each in broken]
        print_json("runs", {"root": str(store.root), "runs": [_described(run) for run in runs], "broken": broken_ones})
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
    """
    from .._plain import flat
    from ..runs import Store

    if len(names) < 2:
        raise ValueError(f"names is {' '.join(names)!r}; expected the names of two or more runs.")
    store = Store(root)
    runs = {run.name: run for run in map(store.get, names)}
    for run in runs.values():
        run.check()
    configs = {name: flat(run.config, ".") for name, run in runs.items()}
    results = {name: flat(run.result or {}, ".") for name, run in runs.items()}
    config = {
        field: values for field, values in _by_field(configs).items() if len(set(map(_text, values.values()))) > 1
    }
    result = _by_field(results)
    if json:
        print_json("runs compare", {"config": config, "result": result})
    else:
        _print_comparison(list(runs), config, result)


@app.command
def delete(
    *names: str, root: Root = None, yes: Annotated[bool, Parameter(negative="")] = False, json: Json = False
) -> None:
    """Delete runs, unless a process is working on them.

    Parameters
    ----------
    names
        Full names of the runs.
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
        if not json:
            print(f"Deleted {name}.")
    if json:
        print_json("runs delete", {"root": str(store.root), "deleted": list(dict.fromkeys(names))})


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
    # Long names and tasks take more lines; nothing is cut.
    table.add_column("name", overflow="fold", max_width=LONGEST_NAME)
    table.add_column("model", overflow="fold", max_width=LONGEST_MODEL)
    table.add_column("task", overflow="fold")
    table.add_column("risk", justify="right", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    for run in runs:
        state = run.state
        risk = _risk(run.result or {}) if state == "finished" else (state, "")
        cells = (run.name, _model(run.config), _task(run.config), *risk, _age(run.updated))
        table.add_row(*map(Text, cells), style="dim" if state == "stopped" else None)
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
    """The task in few words: it is the field `task`, or else the numbers d and n are all that is known."""
    task = config.get("task", {name: config[name] for name in ALWAYS if name in config})
    if not isinstance(task, dict):
        return _text(task)
    order = [*(name for name in ALWAYS if name in task), *(name for name in task if name not in ALWAYS)]
    told = [name for name in order if name in ALWAYS or name not in DEFAULTS or task[name] != DEFAULTS[name]]
    return " ".join(f"{name.replace('_', '-')}={few(task[name])}" for name in told)


def _risk(result: dict[str, Any]) -> tuple[str, str]:
    risk, deviation, method = (result.get(name) for name in ("risk", "standard_error", "method"))
    if isinstance(risk, dict):
        risk, deviation, method = (risk.get(name) for name in ("value", "standard_error", "method"))
    if not isinstance(risk, (int, float)):
        return "-", "-"
    return number(risk), error(deviation if isinstance(deviation, (int, float)) else None, str(method))


def _age(updated: float) -> str:
    seconds = max(0.0, time.time() - updated)
    for unit, length in UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_module.dumps(value)
