"""`descant models`: the kinds of models and the solvers that `descant train` knows."""

from typing import Any

from ._flags import Json
from ._printing import print_json


def models(*, json: Json = False) -> None:
    """List the kinds of models and the solvers, with their options: ours and those of installed packages.

    One of your own needs no entry here: name it as module:name.
    """
    from ..attention import KINDS
    from ..training import SOLVERS

    kinds = {name: {"sentence": kind.sentence, "options": kind.options} for name, kind in KINDS}
    solvers = {name: {"sentence": solver.sentence, "flags": list(solver.flags)} for name, solver in SOLVERS}
    if json:
        print_json("models", {"models": kinds, "solvers": solvers})
        return
    _print("model", "options", {name: (row["sentence"], _words(row["options"])) for name, row in kinds.items()})
    _print("solver", "flags", {name: (row["sentence"], ", ".join(row["flags"])) for name, row in solvers.items()})


def _words(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({str(default).lower()})" for name, default in options.items())


def _print(first: str, last: str, rows: dict[str, tuple[str, str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in (first, "what", last):
        table.add_column(column)
    for name, cells in rows.items():
        table.add_row(*map(Text, (name, *cells)))
    Console().print(table)
