"""The command line. Nothing heavy is imported before the arguments are parsed."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from cyclopts import App, CycloptsError

from ._claims import claims, reproduce
from ._crosscheck import crosscheck
from ._llm import app as llm
from ._models import models
from ._programs import compile_command, programs_command, run_command
from ._risk import risk
from ._runs import app as runs
from ._table1 import table1
from ._train import evaluate, train

app = App(
    name="descant",
    help="Descent by attention: a laboratory for in-context learning by linear attention.",
    version=lambda: import_module("descant").__version__,
    result_action="return_int_as_exit_code_else_zero",
    suppress_keyboard_interrupt=False,  # said below, in words
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
    """Run the command; a user's mistake is one sentence on stderr and exit status 2, never a traceback."""
    # Compiling takes longer than computing: keep compiled programs between commands, as JAX reads it from these.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descant" / "xla"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    try:
        status = app(arguments, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        status = _complain(str(error))
    except (ValueError, OverflowError, OSError) as error:
        status = _complain(str(error))
    except KeyboardInterrupt:
        print("descant: interrupted; what was finished is kept, the same command does the rest.", file=sys.stderr)
        status = 130
    sys.exit(status)


def _complain(sentence: str) -> int:
    print("descant: " + " ".join(sentence.split()), file=sys.stderr)
    return 2
