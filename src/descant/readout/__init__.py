"""Read-outs: which algorithm a model is, as a whole and layer by layer, in words, as JSON and in figures."""

from .. import _precision as _precision
from ._directions import Direction as Direction, Directions as Directions
from ._explain import explain as explain
from ._explanation import (
    Estimate as Estimate,
    Explanation as Explanation,
    OneStep as OneStep,
    Penalty as Penalty,
)
from ._layers import Layer as Layer
from ._match import Match as Match
from ._probing import Linearity as Linearity
from ._regression import Fit as Fit, Share as Share
