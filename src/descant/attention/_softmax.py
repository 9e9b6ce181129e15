"""A small standard transformer with softmax attention: the non-linear comparison."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from ..tasks import AbstractTask, Prompt
from ._guess import GUESSES, AbstractGuess, NoGuess
from ._kind import Kind

MLPS = ("none", "relu", "gelu")
# Width of the residual stream of transformers that are made by name.
WIDTH = 64
# The compiler sees every block of its own: a hundred take minutes.
MOST_LAYERS = 100
_ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu}


class SoftmaxBlock(eqx.Module):
    """Pre-norm block: z + attention(norm(z)), then z + mlp(norm(z)) if it has an MLP."""

    attention_norm: eqx.nn.LayerNorm
    attention: eqx.nn.MultiheadAttention
    mlp_norm: eqx.nn.LayerNorm | None
    mlp_in: eqx.nn.Linear | None
    mlp_out: eqx.nn.Linear | None
    mlp: str = eqx.field(static=True)

    def __init__(self, width: int, heads: int, mlp: str, depth: int, dtype, *, key: PRNGKeyArray):
        key_attention, key_in, key_out = jax.random.split(key, 3)
        self.mlp = mlp
        self.attention_norm = eqx.nn.LayerNorm(width, dtype=dtype)
        # What is added to the residual stream shrinks with the number of additions, as in GPT-2.
        shrink = (depth * (1 if mlp == "none" else 2)) ** -0.5
        attention = eqx.nn.MultiheadAttention(heads, width, dtype=dtype, key=key_attention)
        self.attention = eqx.tree_at(lambda part: part.output_proj.weight, attention, replace_fn=lambda w: w * shrink)
        self.mlp_norm = self.mlp_in = self.mlp_out = None
        if mlp != "none":
            self.mlp_norm = eqx.nn.LayerNorm(width, dtype=dtype)
            self.mlp_in = eqx.nn.Linear(width, 4 * width, dtype=dtype, key=key_in)
            out = eqx.nn.Linear(4 * width, width, dtype=dtype, key=key_out)
            self.mlp_out = eqx.tree_at(lambda linear: linear.weight, out, out.weight * shrink)

    def __call__(self, z: Float[Array, "m width"], causal: bool) -> Float[Array, "m width"]:
        """One block on all tokens."""
        normed = jax.vmap(self.attention_norm)(z)
        length = z.shape[0]
        mask = jnp.tril(jnp.ones((length, length), bool)) if causal else None
        z = z + self.attention(normed, normed, normed, mask=mask)
        if self.mlp_norm is None or self.mlp_in is None or self.mlp_out is None:
            return z
        hidden = jax.vmap(self.mlp_in)(jax.vmap(self.mlp_norm)(z))
        return z + jax.vmap(self.mlp_out)(_ACTIVATIONS[self.mlp](hidden))


class SoftmaxTransformer(AbstractPredictor):
    """Tokens (x_i, y_i) and (x_query, y_q), embedded linearly, through softmax blocks, read at the query.

    **Arguments:** `width` of the residual stream, `heads` and `depth` of it; `mlp` is `none`, `relu` or `gelu`;
    `causal` lets a token attend to itself and earlier ones only (the query is last, and sees all); `positions` adds a
    learnt vector per position, for contexts of up to that many examples (0: none, and the order of the context doesn't
    matter unless causal).

    `guess` is what stands in the label slot of the query, 0 if left out; `dtype` that of all weights.
    """

    embed: eqx.nn.Linear
    place: Float[Array, "p width"] | None
    blocks: tuple[SoftmaxBlock, ...]
    final_norm: eqx.nn.LayerNorm
    readout: eqx.nn.Linear
    guess: AbstractGuess
    d: int = eqx.field(static=True)
    width: int = eqx.field(static=True)
    depth: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    mlp: str = eqx.field(static=True)
    causal: bool = eqx.field(static=True)
    positions: int = eqx.field(static=True)

    def __init__(
        self,
        d: int,
        width: int = 64,
        depth: int = 2,
        heads: int = 4,
        mlp: str = "none",
        causal: bool = False,
        positions: int = 0,
        guess: AbstractGuess | None = None,
        dtype=float,
        *,
        key: PRNGKeyArray,
    ):
        for name, value in (("d", d), ("width", width), ("depth", depth), ("heads", heads)):
            _check.size(name, value)
        _check.size("positions", positions, least=0)
        _check.one_of("mlp", mlp, MLPS)
        if width % heads:
            raise ValueError(f"width is {width}, heads is {heads}; expected a width that the heads can share evenly.")
        self.d, self.width, self.depth, self.heads = d, width, depth, heads
        self.mlp, self.causal, self.positions = mlp, causal, positions
        key_embed, key_place, key_readout, *keys = jax.random.split(key, 3 + depth)
        self.embed = eqx.nn.Linear(d + 1, width, dtype=dtype, key=key_embed)
        self.place = 0.02 * jax.random.normal(key_place, (positions + 1, width), dtype) if positions else None
        self.blocks = tuple(SoftmaxBlock(width, heads, mlp, depth, dtype, key=each) for each in keys)
        self.final_norm = eqx.nn.LayerNorm(width, dtype=dtype)
        self.readout = eqx.nn.Linear(width, "scalar", dtype=dtype, key=key_readout)
        self.guess = NoGuess() if guess is None else guess

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict at the query's position."""
        _check.inputs(self.d, prompt.d)
        query = jnp.append(prompt.x_query, self.guess(prompt))
        tokens = jnp.concatenate([jnp.concatenate([prompt.x, prompt.y[:, None]], axis=1), query[None, :]])
        z = jax.vmap(self.embed)(tokens)
        if self.place is not None:
            if prompt.n > self.positions:
                raise ValueError(f"the prompt has n = {prompt.n}; this transformer has positions for {self.positions}.")
            z = z + self.place[: prompt.n + 1]
        for block in self.blocks:
            z = block(z, self.causal)
        return self.readout(self.final_norm(z[-1]))


def _make(
    task: AbstractTask,
    *,
    layers: int = 2,
    heads: int = 4,
    mlp: str = "none",
    causal: bool = False,
    key: PRNGKeyArray,
) -> SoftmaxTransformer:
    _check.size("layers", layers, most=MOST_LAYERS)
    return SoftmaxTransformer(task.d, WIDTH, layers, heads, key=key, mlp=mlp, causal=causal)


def _torch(model: SoftmaxTransformer, d: int | None) -> Any:
    del d
    from ._torch import _modules  # noqa: PLC0415

    arrays = jax.tree.map(np.asarray, eqx.filter(model, eqx.is_array))
    return _modules.Softmax(arrays, model, _modules.Guess.of(model.guess))


KIND = Kind(
    name="softmax",
    sentence="small standard transformer with softmax attention",
    model=SoftmaxTransformer,
    parts=GUESSES,
    make=_make,
    # Its parts are Equinox's.
    arguments=("d", "width", "depth", "heads", "mlp", "causal", "positions", "guess"),
    torch=_torch,
)
