"""Risks: of any predictor on any task, and of the best member of each class."""

from .. import _precision as _precision
from ._best import ATTENTION as ATTENTION, NAMES as NAMES, best as best
from ._exact import exact_risk as exact_risk
from ._risk import (
    Method as Method,
    Risk as Risk,
    moment_risks as moment_risks,
    risk as risk,
    token_risks as token_risks,
)
