"""The linear transformer block: linear attention, residual, linear MLP."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractLinearPredictor, Merged
from ..tasks import AbstractTask, Moments
from ._kind import Kind
from ._merged_ltb import MergedLTB, merged_torch


class LTB(AbstractLinearPredictor):
    """[W_2^T W_1 (E + W_P^T W_V E M E^T W_K^T W_Q E / n)]_{-1,-1}: the block in the paper's own factors.

    E = [X^T x_query; y^T 0] holds the tokens as columns, M masks the query. Widths: d_k of `w_k`, `w_q`; d_v of `w_p`,
    `w_v`; d_f of `w_1`, `w_2`. Zhang, Wu and Bartlett (2024), section 3; the class is complete for d_k >= d,
    d_v >= d + 1, d_f >= 1. Only the last row of W_2^T W_1 reaches the prediction.

    **Arguments:** `w_k`, `w_q` (d_k, d+1), `w_v`, `w_p` (d_v, d+1), `w_1`, `w_2` (d_f, d+1).

    >>> block = LTB.random(3, key=jax.random.key(0))
    >>> block.w_k.shape, block.merged().u.shape
    ((3, 4), (4, 3))
    """

    w_k: Float[Array, "dk e"]
    w_q: Float[Array, "dk e"]
    w_v: Float[Array, "dv e"]
    w_p: Float[Array, "dv e"]
    w_1: Float[Array, "df e"]
    w_2: Float[Array, "df e"]

    def __check_init__(self):
        for left, right in (("w_k", "w_q"), ("w_v", "w_p"), ("w_1", "w_2")):
            a, b = getattr(self, left), getattr(self, right)
            if a.ndim != 2 or a.shape[1] < 2:
                raise ValueError(f"{left} has shape {a.shape}; expected (width, d + 1).")
            _check.shape(right, b, a.shape, f"it multiplies {left}")
        for name in ("w_v", "w_1"):
            _check.shape(name, getattr(self, name), (getattr(self, name).shape[0], self.w_k.shape[1]), "w_k says d + 1")

    @classmethod
    def random(
        cls,
        d: int,
        *,
        key: PRNGKeyArray,
        key_width: int | None = None,
        value_width: int | None = None,
        hidden_width: int | None = None,
        scale: float = 0.6,
        dtype=float,
    ) -> "LTB":
        """Normal factors of size scale over the fourth root of their width; widths left out are d, d + 1 and d + 1."""
        _check.size("d", d)
        widths = {
            "key_width": d if key_width is None else key_width,
            "value_width": d + 1 if value_width is None else value_width,
            "hidden_width": d + 1 if hidden_width is None else hidden_width,
        }
        for name, width in widths.items():
            _check.size(name, width)
        factors = []
        for number, width in enumerate(widths.values()):
            size = scale / (width * (d + 1)) ** 0.25
            factors += list(size * jax.random.normal(jax.random.fold_in(key, number), (2, width, d + 1), dtype))
        return cls(*factors)

    def merged(self) -> MergedLTB:
        """The block in merged form: the same function, without its gauge freedom."""
        row = self.w_2[:, -1] @ self.w_1
        v = (row @ self.w_p.T) @ self.w_v
        return MergedLTB(v, self.w_k.T @ self.w_q[:, :-1], row[:-1])

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """Those of the merged form."""
        return self.merged().weights(moments)

    def gram_affine(self, d: int, n: int) -> Merged:
        """The same function in merged form, for exact risks."""
        return self.merged().gram_affine(d, n)

    def tokens(self, x: Float[Array, "n d"], y: Float[Array, " n"], x_query: Float[Array, " d"]) -> Float[Array, "e m"]:
        """The block's whole output as the paper writes it, one column per token; the prediction is its last entry."""
        n = y.shape[0]
        columns = jnp.block([[x.T, x_query[:, None]], [y[None, :], jnp.zeros((1, 1), y.dtype)]])
        context = columns[:, :n]
        scores = context.T @ self.w_k.T @ self.w_q @ columns
        attended = columns + self.w_p.T @ self.w_v @ context @ scores / n
        return self.w_2.T @ self.w_1 @ attended


def _make(task: AbstractTask, *, key: PRNGKeyArray) -> LTB:
    return LTB.random(task.d, key=key)


KIND = Kind(
    name="ltb",
    sentence="linear transformer block: linear attention, residual, linear MLP (LTB)",
    model=LTB,
    make=_make,
    torch=lambda model, d: merged_torch(model.merged(), d),
    optimum=lambda: {"name": "ltb"},
)
