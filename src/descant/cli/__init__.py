"""The command line. Nothing heavy is imported before the arguments are parsed."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal

from cyclopts import App

from ._claims import claims, reproduce
from ._crosscheck import crosscheck
from ._decompile import decompile_command
from ._ending import INTERRUPTED, TERMINATED, status_of
from ._explain import explain
from ._explore import explore
from ._flags import DEFAULTS_SHOWN, OTHERS
from ._fuzz import fuzz_command
from ._llm import app as llm
from ._models import models
from ._plot import plot
from ._programs import compile_command, programs_command, run_command
from ._risk import risk
from ._runs import app as runs
from ._sweep import sweep
from ._table1 import table1
from ._train import evaluate, train
from ._values import check_values

app = App(
    name="descant",
    help="Descent by attention: a laboratory for in-context learning by linear attention.",
    version=lambda: import_module("descant").__version__,
    result_action="return_int_as_exit_code_else_zero",
    suppress_keyboard_interrupt=False,  # said at the end, in words
    config=check_values,
    group_parameters=OTHERS,
    default_parameter=DEFAULTS_SHOWN,
)
app.command(risk)
app.command(reproduce)
app.command(claims)
app.command(crosscheck)
app.command(models)
app.command(train)
app.command(evaluate, name="eval")
app.command(explain)
app.command(runs)
app.command(sweep)
app.command(plot)
app.command(table1)
app.command(compile_command, name="compile")
app.command(run_command, name="run")
app.command(decompile_command, name="decompile")
app.command(programs_command, name="programs")
app.command(fuzz_command, name="fuzz")
app.command(llm)
app.command(explore)


@app.command(name="--install-completion")
def install_completion(*, shell: Literal["bash", "fish", "zsh"] | None = None) -> None:
    """Install tab completion of commands and flags, for the shell in use or another.

    Parameters
    ----------
    shell
        Whose; left out, the shell in use.
    """
    from cyclopts.completion.detect import ShellDetectionError

    try:
        script = app.install_completion(shell=shell)
    except ShellDetectionError:
        raise ValueError("shell is left out, and the one in use can't be seen; expected --shell bash, say.") from None
    print(f"Written: {script}. A new shell completes descant by the tab key.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; whatever goes wrong is one sentence on stderr and an exit status, see `_ending`."""
    # Compiling takes longer than computing: keep compiled programs between commands, as JAX reads it from these.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descant" / "xla"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    # A command may read what another is just writing there; then it compiles for itself.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # lines of tables, where a terminal has no such signs
    status = status_of(lambda: app(arguments, print_error=False, exit_on_error=False))
    if arguments is None and status in (INTERRUPTED, TERMINATED):
        # Whoever had something to keep has kept it. An interpreter that ends while XLA compiles crashes.
        os._exit(status)
    sys.exit(status)
