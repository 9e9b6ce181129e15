"""What each layer of a linear transformer has computed: Theorem 4.1 of Vladymyrov et al. (2024)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..tasks import Moments
from ._linear_transformer import AbstractLinearTransformer


class LayerStates(eqx.Module):
    """The tokens before the first and after each layer, S = L + 1 states, as functions of the tokens at the start:

    x'_i = M x_i + y_i u,  y'_i = a y_i - `<w, x_i>`  for the context;
    x'_query = M x_query,  y'_query = -`<w, x_query>`  for the query.

    The prediction is `<w, x_query>`: w is the weight vector that the network has found so far, u a momentum, a a
    damping of the labels, M a preconditioner.
    """

    m: Float[Array, "S d d"]
    u: Float[Array, "S d"]
    a: Float[Array, " S"]
    w: Float[Array, "S d"]


def layer_states(model: AbstractLinearTransformer, moments: Moments) -> LayerStates:
    """Run the network by Lemma 4.3's recursion. With [[A, b], [c^T, s]] the layer's update,

        M' = (I + A) M - b w^T,   u' = (I + A) u + a b,
        a' = (1 + s) a + <c, u>,  w' = (1 + s) w - M^T c.

    The minus in M' is needed; a printed transcription has a plus there.

    **Arguments:** `moments` are those of one context.

    **Returns:** `LayerStates`, whose `w[-1]` is `model.weights(moments)`.

    >>> from descant import Prompt
    >>> from descant.attention import GDPlusPlusTransformer
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> layer_states(GDPlusPlusTransformer(jnp.zeros(1), jnp.array([-0.5])), prompt.moments()).w[-1]
    Array([0.5, 1. ], dtype=float64)
    """
    identity = jnp.eye(moments.d + 1, dtype=moments.gram.dtype)

    # All four are blocks of one matrix, which takes the tokens at the start to those after the layer.
    def layer(carry, parameters):
        gram, tokens = carry
        step = identity + model.update(parameters, gram)
        tokens = step @ tokens
        return (step @ gram @ step.T, tokens), tokens

    _, after = jax.lax.scan(layer, (moments.gram, identity), model.parameters())
    tokens = jnp.concatenate([identity[None], after])
    return LayerStates(tokens[:, :-1, :-1], tokens[:, :-1, -1], tokens[:, -1, -1], -tokens[:, -1, :-1])
