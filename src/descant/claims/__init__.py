"""Every statement of the papers, and some of our own, as an experiment with a verdict.

A claim is a function under `elsa/`, `initial_guess/`, `ltb/`, `linear_transformer/` or `ours/` with the decorator
`claim`; every module there is found by itself. It is handed a `Lab` (budget, seed, progress, a place to keep parts) and
returns `Evidence`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .._checks import (
    CONTROL as CONTROL,
    Check as Check,
    at_least as at_least,
    at_most as at_most,
    consistent as consistent,
    equal as equal,
    often as often,
    shown as shown,
)
from ..figures import (
    Axis as Axis,
    Baseline as Baseline,
    Figure as Figure,
    HeatMap as HeatMap,
    Panel as Panel,
    Series as Series,
)
from ._claim import (
    SEEN as SEEN,
    Claim as Claim,
    Title as Title,
    all_claims as all_claims,
    claim as claim,
    find as find,
)
from ._evidence import Evidence as Evidence, Table as Table
from ._long_run import LongRun as LongRun, long_run as long_run, write_long_run as write_long_run
from ._paper import PAPERS as PAPERS, Paper as Paper
from ._titles import titles as titles

if TYPE_CHECKING:
    from ._judgement import (
        Judgement as Judgement,
        judge as judge,
        judgement_path as judgement_path,
        kept as kept,
        load as load,
    )
    from ._lab import BUDGETS as BUDGETS, Lab as Lab
    from ._reproduce import Event as Event, judge_all as judge_all
    from ._statistics import (
        Mean as Mean,
        mean_over as mean_over,
        paired as paired,
        worst_share as worst_share,
    )

# Judging takes JAX and the store of runs, the words of the claims don't: what judges is loaded when it is first used.
_HOME = {
    **dict.fromkeys(("Judgement", "judge", "judgement_path", "kept", "load"), "_judgement"),
    **dict.fromkeys(("BUDGETS", "Lab"), "_lab"),
    **dict.fromkeys(("Event", "judge_all"), "_reproduce"),
    **dict.fromkeys(("Mean", "mean_over", "paired", "worst_share"), "_statistics"),
}


def __getattr__(name: str):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
