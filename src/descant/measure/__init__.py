"""Risks: of any predictor on any task, and of the best member of each class."""

from .. import _precision as _precision
from .._risk import Excess as Excess, Risk as Risk
from ._bayes import bayes_risk as bayes_risk
from ._best import ESTIMATORS as ESTIMATORS, Estimator as Estimator, best as best
from ._exact import exact_risk as exact_risk, merged_risk as merged_risk
from ._risk import (
    Method as Method,
    knows_oracle as knows_oracle,
    moment_risks as moment_risks,
    risk as risk,
    token_risks as token_risks,
)
