"""What each layer of a linear transformer has computed: Theorem 4.1 of Vladymyrov et al. (2024)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..tasks import Moments
from ._linear_transformer import AbstractLinearTransformer


class LayerStates(eqx.Module):
    """The tokens before the first and after each layer, S = L + 1 states, as functions of the tokens at the start:

    x_i = M x_i + y_i u,  y_i = a y_i - `<w, x_i>`  for the context;   x_query = M x_query,  y_query = -`<w, x_query>`.

    The prediction is `<w, x_query>`: w is the weight vector that the network has found so far, u a momentum, a a damping
    of the labels, M a preconditioner.
    """

    m: Float[Array, "S d d"]
    u: Float[Array, "S d"]
    a: Float[Array, " S"]
    w: Float[Array, "S d"]


def layer_states(model: AbstractLinearTransformer, moments: Moments) -> LayerStates:
    """Run the network by Lemma 4.3's recursion. With [[A, b], [c^T, s]] the layer's update,

        M' = (I + A) M - b w^T,   u' = (I + A) u + a b,   a' = (1 + s) a + `<c, u>`,   w' = (1 + s) w - M^T c.

    The minus in M' is needed; a printed transcription has a plus there.
    """
    d, dtype = moments.d, moments.gram.dtype
    m, u = jnp.eye(d, dtype=dtype), jnp.zeros(d, dtype)
    a, w = jnp.ones((), dtype), jnp.zeros(d, dtype)
    states = [(m, u, a, w)]
    for p, q in zip(*model.dense(d), strict=True):
        tokens = jnp.block([[m, u[:, None]], [-w[None, :], a[None, None]]])
        update = jnp.einsum("kij,jl,klm->im", p, tokens @ moments.gram @ tokens.T, q)
        grow, b, c, s = jnp.eye(d, dtype=dtype) + update[:-1, :-1], update[:-1, -1], update[-1, :-1], update[-1, -1]
        m, u, a, w = grow @ m - jnp.outer(b, w), grow @ u + a * b, (1 + s) * a + c @ u, (1 + s) * w - m.T @ c
        states.append((m, u, a, w))
    return LayerStates(*(jnp.stack(part) for part in zip(*states, strict=True)))
