"""The linear transformer block in merged form: all that it computes, without its gauge freedom."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractLinearPredictor, Merged
from ..tasks import AbstractTask, Moments
from ._kind import Kind
from ._starts import fresh_labels


class MergedLTB(AbstractLinearPredictor):
    """y_hat = `<skip, x_query>` + v^T (G / n) U x_query: all that a linear transformer block computes.

    G is the Gram matrix of the context's tokens, the query is masked. `skip` is what the MLP makes of the residual.

    **Arguments:** `v` (d+1,), `u` (d+1, d), `skip` (d,).
    """

    v: Float[Array, " e"]
    u: Float[Array, "e d"]
    skip: Float[Array, " d"]

    def __check_init__(self):
        if self.v.ndim != 1 or self.v.shape[0] < 2:
            raise ValueError(f"v has shape {self.v.shape}; expected a vector of d + 1 numbers.")
        size = self.v.shape[0]
        _check.shape("u", self.u, (size, size - 1), f"v has d + 1 = {size} entries")
        _check.shape("skip", self.skip, (size - 1,), f"v has d + 1 = {size} entries")

    @classmethod
    def random(cls, d: int, *, key: PRNGKeyArray, scale: float = 0.3, dtype=float) -> "MergedLTB":
        """Normal weights of the given scale, divided by sqrt(d + 1)."""
        _check.size("d", d)
        normal = scale / (d + 1) ** 0.5 * jax.random.normal(key, (d + 2, d + 1), dtype)
        return cls(normal[0], normal[1:, :-1], normal[1:-1, -1])

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """skip + U^T (G / n) v."""
        _check.inputs(self.skip.shape[0], moments.d)
        return self.skip + (self.v @ moments.gram) @ self.u / moments.n

    def gram_affine(self, d: int, n: int) -> Merged:
        """The same function in merged form, for exact risks."""
        del d, n
        return Merged(self.skip, jnp.einsum("i,jl->lij", self.v, self.u))


def merged_torch(model: MergedLTB, d: int | None) -> Any:
    """Its PyTorch module."""
    del d
    from ._torch import _modules  # noqa: PLC0415

    return _modules.MergedLTB(model.v, model.u, model.skip)


def _make(task: AbstractTask, *, key: PRNGKeyArray) -> MergedLTB:
    return MergedLTB.random(task.d, key=key)


KIND = Kind(
    name="merged-ltb",
    sentence="linear transformer block in merged form, without its gauge freedom",
    model=MergedLTB,
    make=_make,
    restart=fresh_labels,
    torch=merged_torch,
    optimum=lambda: {"name": "ltb"},
)
