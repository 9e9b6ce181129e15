"""Runs on disk: one folder each, whole at every moment, found again by what was asked for, and open to SQL."""

from .. import _precision as _precision
from ._drive import drive as drive
from ._environment import environment as environment
from ._key import run_key as run_key
from ._query import query as query
from ._run import Run as Run
from ._store import Broken as Broken, Store as Store, default_root as default_root
from ._trackers import Tracker as Tracker, tracker as tracker
