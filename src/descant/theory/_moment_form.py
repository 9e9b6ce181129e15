"""The risk of LSA as a quadratic form in its merged weights, from the moments of any laws."""

import numpy as np
from jaxtyping import Float

from ..forms import AbstractForm, Matrices, Tensor, whitening
from ._gram_moments import GramMoments, packed


class MomentForm(AbstractForm):
    """The form of any laws, from their moments, the query masked."""

    def __init__(self, moments: GramMoments, free_offset: bool):
        self.query_masked, self.free_offset = True, free_offset
        forth, self.back = whitening(np.asarray(moments.inputs))
        d, k = self.back.shape
        self.unit = float(np.sqrt(moments.g[-1])) or 1.0
        self.from_tokens = np.zeros((k + 1, d + 1))
        self.from_tokens[:k, :d], self.from_tokens[k, d] = forth, 1 / self.unit
        # All symmetric matrices by their entries: those of whitened G/n from those of G/n.
        rows, columns = np.triu_indices(d + 1)
        self._places = np.triu_indices(k + 1)
        pairs = np.einsum("ip,jp->ijp", self.from_tokens[:, rows], self.from_tokens[:, columns])
        pairs = pairs + np.where(rows == columns, 0.0, np.swapaxes(pairs, 0, 1))
        change = pairs[self._places]
        to_white = np.linalg.pinv(self.back) / self.unit
        self._mean_g, self._mean_w = change @ np.asarray(moments.g), to_white @ np.asarray(moments.w)
        gg = change @ np.asarray(moments.gg) @ change.T
        wg = to_white @ np.asarray(moments.wg) @ change.T
        ww = to_white @ np.asarray(moments.ww) @ to_white.T
        if free_offset:
            gg = gg - np.outer(self._mean_g, self._mean_g)
            wg = wg - np.outer(self._mean_w, self._mean_g)
            ww = ww - np.outer(self._mean_w, self._mean_w)
        self._gg, self.target, self.constant = gg, self._spread(wg), float(np.trace(ww))

    def _spread(self, entries: Float[np.ndarray, "*batch m"]) -> Float[np.ndarray, "*batch s s"]:
        """The symmetric matrices with these entries."""
        size = self.from_tokens.shape[0]
        full = np.zeros((*entries.shape[:-1], size, size))
        full[..., self._places[0], self._places[1]] = entries
        full[..., self._places[1], self._places[0]] = entries
        return full

    def masked_normal(self, t: Matrices) -> Matrices:
        return self._spread(np.asarray(packed(t)) @ self._gg)

    def normal(self, t: Tensor) -> Tensor:
        return self.masked_normal(t)

    def saturated(self) -> Tensor:
        return self.unrestricted()

    def offset(self, t: Tensor) -> Float[np.ndarray, " k"]:
        return self._mean_w - np.asarray(packed(t)) @ self._mean_g if self.free_offset else np.zeros(self.k)
