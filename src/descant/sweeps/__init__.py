"""Sweeps: a question asked at every point of a grid, by workers of any sort, each point once.

The room knows no model and no task: an `Evaluator` says which fields a point has and answers for a group of points.
"""

from .._extras import require as _require

_require("pyarrow", "a sweep, whose table is a Parquet file,")

# ruff: noqa: E402
from ._evaluator import Evaluator as Evaluator, as_evaluator as as_evaluator, find_evaluator as find_evaluator
from ._fields import Fields as Fields, read_fields as read_fields
from ._grid import Axis as Axis, Grid as Grid, read_grid as read_grid
from ._outcome import Outcome as Outcome
from ._picture import Picture as Picture, picture as picture
from ._plan import Plan as Plan, make_plan as make_plan
from ._store import Store as Store, default_root as default_root
from ._sweep import Progress as Progress, run_sweep as run_sweep
from ._table import read_table as read_table, to_table as to_table, write_table as write_table
from ._view import View as View
from .executors import EXECUTORS as EXECUTORS, AbstractExecutor as AbstractExecutor
