"""Use at another context length than a model was trained at."""

from .. import _check
from .._predictor import AbstractPredictor


def rescaled(model: AbstractPredictor, n_from: int, n_to: int) -> AbstractPredictor:
    """A model trained on contexts of `n_from` examples, for contexts of `n_to`.

    The papers' linear transformers add up their context in plain sums, so a context that is five times as long looks to
    them like one with inputs and labels of sqrt(5) times the size, where deep networks explode. Here every layer sees
    its Gram matrix G as n_from / n_to G, which is about what it was trained on: a matter of scaling the weights, so the
    model stays of its kind.

    **Returns:** the model; `Unknown` if it isn't known to read its context through plain sums.

    >>> import jax.numpy as jnp
    >>> from descant.attention import GDPlusPlusTransformer
    >>> rescaled(GDPlusPlusTransformer(jnp.zeros(1), jnp.array([-0.5])), 8, 40).w_yx
    Array([-0.1], dtype=float64)
    """
    _check.size("n_from", n_from)
    _check.size("n_to", n_to)
    return model.scaled(n_from / n_to)
