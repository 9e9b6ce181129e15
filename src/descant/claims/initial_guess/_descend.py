"""Adam on the exact risk of layers that differ in heads and guess, all in one program."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PRNGKeyArray

from ...theory import Problem, gram_risk


class Kind(NamedTuple):
    """A layer to be trained: its heads, a start w0 that is given, and whether the guess is trained on from there."""

    heads: int
    start: tuple[float, ...]
    trained_guess: bool = False


class Descent(NamedTuple):
    """Exact risks (kinds, seeds, looks) during training, first and last step included, and the last guesses."""

    risks: np.ndarray
    guesses: np.ndarray


def descend(
    kinds: list[Kind], posed: Problem, *, seeds: int, steps: int, looks: int, rate: float, key: PRNGKeyArray
) -> Descent:
    """Train every kind from random weights, with a step size that falls to zero like a cosine.

    All layers have as many heads as the largest; those that a kind does not have are held at zero, so that one compiled
    program serves for all kinds and seeds.
    """
    d, most = posed.d, max(kind.heads for kind in kinds)
    members = [kind for kind in kinds for _ in range(seeds)]
    has = jnp.asarray([[float(head < kind.heads) for head in range(most)] for kind in members])
    starts = jnp.asarray([kind.start for kind in members])
    free = jnp.asarray([float(kind.trained_guess) for kind in members])
    normal = 0.3 / (d + 1) ** 0.5 * jax.random.normal(key, (len(members), most, d + 1, d + 2))
    weights = {"v": normal[..., 0], "u": normal[..., 1:], "g": jnp.zeros((len(members), d))}
    guesses, risks = _run(weights, has, starts, free, posed, steps // looks, looks, rate)
    shape = (len(kinds), seeds)
    return Descent(np.asarray(risks).reshape(*shape, -1), np.asarray(guesses).reshape(*shape, d))


def _run(weights, has: Array, starts: Array, free: Array, posed: Problem, stretch: int, looks: int, rate: float):
    optimiser = optax.adam(optax.cosine_decay_schedule(rate, stretch * looks))

    def member(weights, has, start, free):
        def guess(weights):
            return start + free * weights["g"]

        def risk(weights):
            slope = guess(weights)
            # U_h as it meets x_query: its last column sees the guess.
            query_side = weights["u"][:, :, :-1] + weights["u"][:, :, -1:] * slope[None, None, :]
            return gram_risk(posed, slope, jnp.einsum("h,hi,hjl->lij", has, weights["v"], query_side))

        def step(carry, _):
            weights, memory = carry
            moves, memory = optimiser.update(jax.grad(risk)(weights), memory)
            return (optax.apply_updates(weights, moves), memory), None

        def look(carry, _):
            return jax.lax.scan(step, carry, None, length=stretch)[0], risk(carry[0])

        (weights, _), risks = jax.lax.scan(look, (weights, optimiser.init(weights)), None, length=looks)
        return guess(weights), jnp.append(risks, risk(weights))

    # Optax's schedules mix integer and floating types.
    with jax.numpy_dtype_promotion("standard"):
        return jax.jit(jax.vmap(member))(weights, has, starts, free)
