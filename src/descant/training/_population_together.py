"""Training many single layers on their whole risks at once: all starts of all of them, in one compiled program.

Descents are lanes of the program, always as many. One that ends makes room for another; which lane a descent has, and
beside which others, changes no bit of it.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._predictor import AbstractPredictor
from ..tasks import AbstractTask
from ..theory import GramMoments, Problem
from ._flat import flatten, rebuild
from ._population import GRADIENT, PopulationTrainer, population_risk
from ._trust_region import ARRIVED, GOING, TOO_LONG, Descent, begin, go_on

# Descents side by side, and turns of each before those that have ended make room.
LANES, TURNS = 32, 64
Laws = Problem | GramMoments


def population_together(
    models: Sequence[AbstractPredictor],
    tasks: Sequence[AbstractTask],
    *,
    objective: str,
    keys: Sequence[PRNGKeyArray],
    settings: Sequence[dict[str, Any]],
) -> list[tuple[Any, str]]:
    """Each model with the best weights from any of its starts, and why that descent stopped.

    **Arguments:** as for `Solver.together`. The starts are those of `PopulationTrainer`, and so is the goal.
    """
    del objective
    each = zip(models, tasks, keys, settings, strict=True)
    trainers = [PopulationTrainer(model, task, key=key, **given) for model, task, key, given in each]
    owners = np.array([index for index, trainer in enumerate(trainers) for _ in trainer.starts])
    thetas = np.stack([flatten(start) for trainer in trainers for start in trainer.starts])
    laws = jax.tree.map(lambda *leaves: np.stack(leaves)[owners], *(trainer.laws for trainer in trainers))
    scales, ends = _descended(thetas, laws, models[0], tasks[0].d, tasks[0].n)
    found = []
    for index, model in enumerate(models):
        own = np.flatnonzero(owners == index)
        losses = ends.value[own] * scales[own]
        best = int(own[np.argmin(np.where(np.isnan(losses), np.inf, losses))])
        found.append((rebuild(model, ends.theta[best]), _in_words(ends, best)))
    return found


def _in_words(ends: Descent, index: int) -> str:
    if ends.state[index] == ARRIVED:
        return f"gradient below {GRADIENT:g} of the zero predictor's risk"
    why = "not converged: too many steps" if ends.state[index] == TOO_LONG else "rounding hides what is left to gain"
    return f"{why}; the gradient is {np.linalg.norm(ends.slope[index]):.1e} of the zero predictor's risk"


def _descended(
    thetas: Float[np.ndarray, "m p"], laws: Laws, template: Any, d: int, n: int
) -> tuple[Float[np.ndarray, " m"], Descent]:
    """The risk of the zero predictor in every descent's problem, which is its unit, and where the descents ended."""
    count = thetas.shape[0]
    begun = []
    for start in range(0, count, LANES):
        some = np.minimum(np.arange(start, start + LANES), count - 1)
        made = _begin(jnp.asarray(thetas[some]), _rows(laws, some), template, d, n)
        begun.append(jax.tree.map(lambda leaf: np.asarray(leaf)[: count - start], made))  # noqa: B023
    scales, here = jax.tree.map(lambda *leaves: np.concatenate(leaves), *begun)
    while (going := np.flatnonzero(here.state == GOING)).size:
        going = going[:LANES]
        some = np.resize(going, LANES)
        after = _go_on(_rows(here, some), jnp.asarray(scales[some]), _rows(laws, some), template, d, n)
        for old, new in zip(here, after, strict=True):
            old[going] = np.asarray(new)[: going.size]
    return scales, here


def _rows(tree: Any, indices: Int[np.ndarray, " lanes"]) -> Any:
    return jax.tree.map(lambda leaf: jnp.asarray(leaf[indices]), tree)


def _in_units(laws: Laws, template: Any, d: int, n: int, scale: Float[Array, ""]):
    return lambda theta: population_risk(rebuild(template, theta), laws, d, n) / scale


@eqx.filter_jit
def _begin(thetas: Float[Array, "lanes p"], laws: Laws, template: Any, d: int, n: int):
    def one(theta, laws):
        zero = _in_units(laws, template, d, n, jnp.ones(()))(jnp.zeros_like(theta))
        scale = jnp.where(zero > 0, zero, jnp.ones(()))
        return scale, begin(_in_units(laws, template, d, n, scale), theta, GRADIENT)

    return jax.vmap(one)(thetas, laws)


@eqx.filter_jit
def _go_on(here: Descent, scales: Float[Array, " lanes"], laws: Laws, template: Any, d: int, n: int) -> Descent:
    def one(here, scale, laws):
        return go_on(_in_units(laws, template, d, n, scale), here, GRADIENT, TURNS)

    return jax.vmap(one)(here, scales, laws)
