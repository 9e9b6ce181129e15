"""A fixed pool of contexts with their targets, for fits by least squares.

A network of L layers is a polynomial of degree 3^L in its context. Fitted to a few thousand ordinary contexts it can
explode on the one in a hundred thousand whose Gram matrix is larger than any that it has seen. So a pool is drawn from
many more contexts than it keeps: all of the most extreme ones, and a sample of the others, weighted for what was left
out. The weighted mean over the pool is unbiased for the mean over all contexts drawn, but for the tiny weight of
sentinels, which stand beyond the largest (see `_sentinels`).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .. import _memory
from .._cores import cores
from .._predictor import AbstractPredictor
from ..attention import kind_of
from ..tasks import AbstractTask, Moments
from ._objective import target
from ._sentinels import can_stretch, stretched

# Contexts per piece of a pool. Pieces are what threads share out, and what a larger pool adds to a smaller one.
PIECE = 512
# Contexts drawn for each one kept, at most, for networks of one, two and more layers: the tails grow with the degree.
DRAWN_PER_KEPT = (1, 8, 64)
# Numbers that the draws of one piece may hold: 256 MiB in float64. Where tokens must be drawn, there are fewer draws.
DRAW_BUDGET = 2**25
# How many of a piece are those with the largest inputs and the largest labels.
LARGEST_INPUTS, LARGEST_LABELS = 96, 48
# How many of a piece are stretched copies of those with the largest inputs.
SENTINELS = 32

threads = ThreadPoolExecutor(cores(), thread_name_prefix="descant-pool")


class Contexts(eqx.Module):
    """Contexts as a kind of model reads them, and the weight vectors wanted. Methods are for one context."""

    seen: Any
    wanted: Float[Array, "*m d"]
    scale: Float[Array, "*m"]

    def residual(self, model: AbstractPredictor, root: Float[Array, "d d"]) -> Float[Array, " d"]:
        """root (w_hat - wanted), scaled by the root of the context's weight: its square is the loss."""
        prepared = None if isinstance(self.seen, Moments) else kind_of(model).prepared
        weights = model.weights(self.seen) if prepared is None else prepared.weights(model, self.seen)
        return self.scale * (root @ (weights - self.wanted))


def pieces_for(
    model: AbstractPredictor, contexts: list[Contexts], made: list[Contexts] | None = None
) -> list[Contexts]:
    """The pool in the form that suits the model: moments, or what its kind makes of them.

    **Arguments:** `made` are the pieces that the kind has made of the first contexts; new ones are added to it.
    """
    prepared = kind_of(model).prepared
    if prepared is None:
        return contexts
    made = [] if made is None else made
    for piece in contexts[len(made) :]:
        made.append(Contexts(prepared.prepare(piece.seen), piece.wanted, piece.scale))
    return made[: len(contexts)]


@eqx.filter_jit
def _candidates(task: AbstractTask, key: PRNGKeyArray, count: int) -> Moments:
    return jax.vmap(lambda key: task.sample_moments(key=key))(jax.random.split(key, count))


@eqx.filter_jit
def _targets(objective: str, task: AbstractTask, moments: Moments) -> Float[Array, "m d"]:
    return jax.vmap(lambda moments: target(objective, task, moments))(moments)


def _keep(moments: Moments, size: int) -> tuple[Int[np.ndarray, " size"], Float[np.ndarray, " size"]]:
    """Which `size` of the contexts drawn to keep, largest inputs first, and the roots of their weights."""
    gram = np.asarray(moments.gram)
    count = gram.shape[0]
    inputs = np.linalg.norm(gram[:, :-1, :-1], axis=(1, 2))
    by_inputs = np.argsort(inputs)[::-1]
    large, rest = by_inputs[:LARGEST_INPUTS], np.sort(by_inputs[LARGEST_INPUTS:])
    by_labels = rest[np.argsort(gram[rest, -1, -1])[::-1]]
    loud, rest = by_labels[:LARGEST_LABELS], np.sort(by_labels[LARGEST_LABELS:])
    # The draws are independent: the first of the rest are as random as any.
    bulk = rest[: size - LARGEST_INPUTS - LARGEST_LABELS]
    kept = np.concatenate([large, loud, bulk])
    weights = np.ones(kept.size)
    weights[LARGEST_INPUTS + LARGEST_LABELS :] = rest.size / bulk.size
    return kept, np.sqrt(weights * PIECE / count)


def drawn_per_kept(task: AbstractTask, layers: int, most: int | None = None) -> int:
    """How many contexts to draw for one that is kept: `most`, or what the depth asks for, as far as memory allows."""
    numbers = (task.d + 1) * (2 * (task.d + 1) + (task.n if task.moments_take_tokens else 0))
    _memory.need(f"a pool of contexts with d = {task.d} and n = {task.n}", 2 * PIECE * numbers * cores(), "n or d")
    if most is None:
        most = DRAWN_PER_KEPT[min(layers, len(DRAWN_PER_KEPT)) - 1]
    return int(np.clip(DRAW_BUDGET // (PIECE * numbers), 1, most))


def _piece(
    objective: str, task: AbstractTask, key: PRNGKeyArray, layers: int, sentinels: bool, drawn: int | None
) -> Contexts:
    moments = _candidates(task, key, PIECE * drawn_per_kept(task, layers, drawn))
    guards = SENTINELS if sentinels and layers > 1 and can_stretch(task) else 0
    kept, scale = _keep(moments, PIECE - guards)
    chosen = jax.tree.map(lambda leaf: leaf[kept], moments)
    if guards:
        copies = jax.tree.map(lambda leaf: leaf[:guards], chosen)
        gram, weights = stretched(task, np.asarray(copies.gram), np.asarray(copies.w))
        copies = eqx.tree_at(lambda moments: moments.gram, copies, jnp.asarray(gram))
        chosen = jax.tree.map(lambda *parts: jnp.concatenate(parts), chosen, copies)
        scale = np.append(scale, np.sqrt(weights) * scale[0])
    # The hidden task has served its purpose once the target is known.
    seen = jax.vmap(lambda gram: Moments(gram, task.n))(chosen.gram)
    return Contexts(seen, _targets(objective, task, chosen), jnp.asarray(scale))


def draw_pool(
    objective: str,
    task: AbstractTask,
    count: int,
    key: PRNGKeyArray,
    *,
    start: int = 0,
    layers: int = len(DRAWN_PER_KEPT),
    sentinels: bool = True,
    drawn: int | None = None,
) -> list[Contexts]:
    """Pieces number `start` to `start + count` of the pool that the key stands for, for networks of so many layers.

    `drawn` contexts are drawn for each one kept; by default as many as the depth asks for.
    """
    keys = [jax.random.fold_in(key, index) for index in range(start, start + count)]
    # The first compiles; the others are drawn side by side.
    settings = layers, sentinels, drawn
    return [_piece(objective, task, each, *settings) for each in keys[:1]] + list(
        threads.map(lambda each: _piece(objective, task, each, *settings), keys[1:])
    )
