"""The classical side: what attention is measured against."""

from .. import _precision as _precision
from ._bayes import Bayes as Bayes
from ._gradient_descent import (
    GD as GD,
    GDBeta as GDBeta,
    GDPlusPlus as GDPlusPlus,
    PreconditionedGD as PreconditionedGD,
    gd_plus_plus_layer as gd_plus_plus_layer,
)
from ._gram_affine import AttendingGramAffine as AttendingGramAffine, GramAffine as GramAffine
from ._least_squares import OLS as OLS, Zero as Zero
from ._monte_carlo_bayes import BayesEstimate as BayesEstimate, MonteCarloBayes as MonteCarloBayes
from ._ridge import (
    AdaRidge as AdaRidge,
    ConstRidge as ConstRidge,
    OracleRidge as OracleRidge,
    TunedRidge as TunedRidge,
)
from ._tuning import tuned_ridge as tuned_ridge
