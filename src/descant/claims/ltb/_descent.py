"""Gradient methods on the exact risk: nothing sampled, so iterations can be counted."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ...attention import LTB, MergedLTB
from ...estimators import GDBeta
from ...theory import Problem, gd_beta_risk
from ...training import at_rest, descend, population_risk

METHODS = ("gradient descent", "Adam")


def exact(model: Any, problem: Problem) -> Float[Array, ""]:
    """The model's exact risk."""
    if isinstance(model, GDBeta):
        return gd_beta_risk(problem, model.beta, model.gamma)
    return population_risk(model, problem, problem.d, problem.n)


def start_of(model: GDBeta | LTB | MergedLTB) -> Float[Array, " d"]:
    """What the model adds whatever the context is: its idea of the prior mean."""
    if isinstance(model, GDBeta):
        return model.beta
    return model.merged().skip if isinstance(model, LTB) else model.skip


@eqx.filter_jit
def _run(arrays: Any, static: Any, problems: Problem, rates: Array, method: str, steps: int) -> Array:
    optimiser = optax.scale_by_adam() if method == "Adam" else optax.identity()

    def apart(arrays, problem):
        return jnp.linalg.norm(start_of(eqx.combine(arrays, static)) - problem.mean)

    _, told = descend(
        lambda arrays, problem, _: exact(eqx.combine(arrays, static), problem),
        at_rest(arrays, optimiser),
        problems,
        rates,
        jnp.arange(steps),
        optimiser=optimiser,
        look=apart,
    )
    return jnp.stack(told, axis=-1).swapaxes(0, 1)


def curves(
    models: list[Any], problems: list[Problem], rates: list[float], *, method: str, steps: int
) -> Float[np.ndarray, "members steps 2"]:
    """Exact risk, and distance of the start from the prior mean, before every iteration; a member per entry."""
    arrays, static = zip(*(eqx.partition(model, eqx.is_inexact_array) for model in models), strict=True)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays)
    laws = jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)
    return np.asarray(_run(stacked, static[0], laws, jnp.asarray(rates, float), method, steps))


def first_below(curve: Float[np.ndarray, " steps"], level: float) -> float:
    """The first iteration at or below a level; infinity if none is."""
    below = np.flatnonzero(curve <= level)
    return float(below[0]) if below.size else float("inf")
