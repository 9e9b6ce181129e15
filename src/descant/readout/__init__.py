"""Read-outs: which algorithm a model is, as a whole and layer by layer, in words, as JSON and in figures."""

from .. import _precision as _precision
from ._directions import Direction as Direction, Directions as Directions
from ._explain import MOST_CONTEXTS as MOST_CONTEXTS, explain as explain
from ._explanation import (
    Estimate as Estimate,
    Explanation as Explanation,
    OneStep as OneStep,
    Penalty as Penalty,
)
from ._figures import FIGURES as FIGURES, figures as figures
from ._layers import Layer as Layer
from ._match import Match as Match
from ._over_time import Moment as Moment, OverTime as OverTime, over_time as over_time
from ._probing import Linearity as Linearity
from ._regression import Fit as Fit, Share as Share
from ._walk import Walk as Walk, walk as walk
