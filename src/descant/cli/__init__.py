"""The command line. Nothing heavy is imported before the arguments are parsed."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cyclopts import App

from .. import __version__
from ._claims import claims, reproduce
from ._crosscheck import crosscheck
from ._ending import status_of
from ._llm import app as llm
from ._models import models
from ._programs import compile_command, programs_command, run_command
from ._risk import risk
from ._runs import app as runs
from ._table1 import table1
from ._train import evaluate, train
from ._values import check_values

app = App(
    name="descant",
    help="Descent by attention: a laboratory for in-context learning by linear attention.",
    version=__version__,
    result_action="return_int_as_exit_code_else_zero",
    suppress_keyboard_interrupt=False,  # said at the end, in words
    config=check_values,
)
app.command(risk)
app.command(reproduce)
app.command(claims)
app.command(crosscheck)
app.command(models)
app.command(train)
app.command(evaluate, name="eval")
app.command(runs)
app.command(table1)
app.command(compile_command, name="compile")
app.command(run_command, name="run")
app.command(programs_command, name="programs")
app.command(llm)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; whatever goes wrong is one sentence on stderr and an exit status, see `_ending`."""
    # Compiling takes longer than computing: keep compiled programs between commands, as JAX reads it from these.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descant" / "xla"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    sys.exit(status_of(lambda: app(arguments, print_error=False, exit_on_error=False)))
