"""Adam on the exact risk of layers that differ in heads and guess, all in one program."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PRNGKeyArray

from ...theory import Problem, gram_risk
from ...training import at_rest, cosine, descend


class Kind(NamedTuple):
    """A layer to be trained: its heads, a start w0 that is given, and whether the guess is trained on from there."""

    heads: int
    start: tuple[float, ...]
    trained_guess: bool = False


class Descent(NamedTuple):
    """Exact risks (kinds, seeds, looks) during training, first and last step included, and the last guesses."""

    risks: np.ndarray
    guesses: np.ndarray


def train_kinds(
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
    guesses, risks = _run(weights, (has, starts, free), posed, steps // looks * looks, looks, rate)
    shape = (len(kinds), seeds)
    return Descent(np.asarray(risks).reshape(*shape, -1), np.asarray(guesses).reshape(*shape, d))


@eqx.filter_jit
def _run(weights, kinds, posed: Problem, steps: int, looks: int, rate: float):
    def guess(weights, kind):
        _, start, free = kind
        return start + free * weights["g"]

    def risk(weights, kind, _):
        slope = guess(weights, kind)
        # U_h as it meets x_query: its last column sees the guess.
        query_side = weights["u"][:, :, :-1] + weights["u"][:, :, -1:] * slope[None, None, :]
        return gram_risk(posed, slope, jnp.einsum("h,hi,hjl->lij", kind[0], weights["v"], query_side))

    optimiser = optax.scale_by_adam()
    rates = jnp.full(weights["g"].shape[0], rate)
    (weights, _), risks = descend(
        risk,
        at_rest(weights, optimiser),
        kinds,
        rates,
        jnp.arange(steps),
        optimiser=optimiser,
        schedule=cosine(steps),
    )
    ends = jax.vmap(risk, in_axes=(0, 0, None))(weights, kinds, None)
    return jax.vmap(guess)(weights, kinds), jnp.concatenate([risks[:: steps // looks], ends[None]]).T
