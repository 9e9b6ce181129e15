"""Everything one layer of linear attention can compute, in merged form."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check
from .._arrays import settled
from .._predictor import AbstractLinearPredictor, AbstractPredictor, Merged
from ..tasks import Moments, Prompt


class GramAffine(AbstractLinearPredictor):
    """Weights that are affine in the Gram matrix: w_l = offset_l + `<tensor_l, G / n>`.

    One layer of linear attention with any number of heads, its query masked, is of this form: with heads (v_h, U_h) and
    the query token (x_query, 0), tensor_l = sum_h v_h (column l of U_h)^T. The offset is what a trainable initial guess
    or a linear MLP adds. Only the symmetric part of each tensor_l matters.

    **Arguments:** `offset` (d,) and `tensor` (d, d+1, d+1); `gram_affine(d, n)` of any one-layer model gives both.

    >>> from descant.estimators import GDBeta
    >>> merged = GDBeta(jnp.ones(2), 0.5 * jnp.eye(2)).gram_affine(2, 8)
    >>> GramAffine(merged.offset, merged.tensor).tensor.shape
    (2, 3, 3)
    """

    offset: Float[Array, " d"]
    tensor: Float[Array, "d e e"]

    def __init__(self, offset, tensor):
        self.offset = jnp.asarray(offset, dtype=float)
        self.tensor = jnp.asarray(tensor, dtype=float)

    def __check_init__(self):
        if self.offset.ndim != 1:
            raise ValueError(f"offset has shape {self.offset.shape}; expected a vector of d numbers.")
        d = self.offset.shape[0]
        _check.shape("tensor", self.tensor, (d, d + 1, d + 1), f"offset has d = {d} entries")
        _check.finite("offset", self.offset)
        _check.finite("tensor", self.tensor)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """offset + `<tensor, G / n>`."""
        _check.inputs(self.offset.shape[0], moments.d)
        return self.offset + jnp.einsum("lij,ij->l", self.tensor, moments.gram) / moments.n

    def gram_affine(self, d: int, n: int) -> Merged:
        """Its own fields."""
        del n
        _check.inputs(self.offset.shape[0], d)
        return Merged(settled(self.offset), settled(self.tensor))


class AttendingGramAffine(AbstractPredictor):
    """The same layer when the query token (x_query, 0) attends to itself too: G becomes G + e_query e_query^T.

    The prediction is then a cubic polynomial in the query, so there is no weight vector.

    **Arguments:** `masked` is the layer with its query masked.
    """

    masked: GramAffine

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict with the query's own token in the sum."""
        _check.inputs(self.masked.offset.shape[0], prompt.d)
        own = jnp.einsum("lij,l,i,j->", self.masked.tensor[:, :-1, :-1], *[prompt.x_query] * 3)
        return self.masked(prompt) + own / prompt.n

    def gram_affine(self, d: int, n: int) -> Merged:
        """That of the masked layer, with the query's token in G."""
        return self.masked.gram_affine(d, n)._replace(query_masked=False)
