"""Which models are one layer of linear attention in disguise, and in merged form have an exact risk."""

from .._predictor import AbstractPredictor
from ..estimators import AttendingGramAffine, GramAffine
from ._guess import NoGuess
from ._linear_transformer import AbstractLinearTransformer
from ._lsa import LSA
from ._ltb import LTB, MergedLTB


def merged_form(model: AbstractPredictor, d: int, n: int) -> GramAffine | AttendingGramAffine | None:
    """The model on contexts of n examples in R^d as an affine function of the Gram matrix; None if it isn't one.

    A query that attends is allowed for, if its label slot is empty.
    """
    match model:
        case LSA() if model.linear or isinstance(model.guess, NoGuess):
            return model.gram_affine(d, n)
        case LTB() | MergedLTB():
            return model.gram_affine(d, n)
        case AbstractLinearTransformer() if model.layers == 1:
            return model.gram_affine(d, n)
    return None
