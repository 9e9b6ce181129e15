"""A gated linear attention layer of one's own: what a token adds to the sum is scaled by a gate that the token sets.

descant train gated_attention:Gated --d 3 --n 8 --noise 0.5 --heads 2 --steps 500 --out gated-run
descant runs
descant eval gated-run --kinds gated_attention:Gated
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from descant import AbstractPredictor, Prompt
from descant.attention import Kind


class Gated(AbstractPredictor):
    """y_hat = sum_h v_h^T (sum_i gate_h(e_i) e_i e_i^T / n) U_h x_query, a sigmoid for a gate."""

    v: Float[Array, "H e"]
    u: Float[Array, "H e d"]
    gate: Float[Array, "H e"]

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict. Gates see single tokens, not their Gram matrix: this layer lives in token space."""
        tokens = jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1)
        gates = jax.nn.sigmoid(tokens @ self.gate.T)
        values = (tokens @ self.v.T) * gates / prompt.n
        return jnp.sum((values.T @ tokens) * (self.u @ prompt.x_query))


def _make(task, *, heads: int = 1, key) -> Gated:
    shapes = (heads, task.d + 1), (heads, task.d + 1, task.d), (heads, task.d + 1)
    keys = jax.random.split(key, 3)
    return Gated(*(0.3 * jax.random.normal(each, shape) for each, shape in zip(keys, shapes, strict=True)))


KIND = Kind(name="gated", sentence="linear attention whose tokens gate themselves", model=Gated, make=_make)
