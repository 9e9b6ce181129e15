"""Problems that several tests of theory share, and descent from many starts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.optimize import minimize

from descant.theory import (
    Problem,
)
from tests.support.problems import low_rank_task, random_problem

PROBLEMS = {f"random {seed}": random_problem(seed) for seed in range(3)} | {"low rank": Problem.of(low_rank_task(0))}


def isotropic(d: int, n: int, mean: float, sigma: float = 0.0) -> Problem:
    return Problem(jnp.full(d, mean), jnp.eye(d), jnp.eye(d), n, sigma=sigma)


def lowest_of_restarts(risk, shapes, restarts=50) -> float:
    """The best of many BFGS runs from random starts, all in one program."""
    sizes = [int(np.prod(shape)) for shape in shapes]

    def objective(flat):
        parts = jnp.split(flat, np.cumsum(sizes)[:-1])
        return risk(*[part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])

    rng = np.random.default_rng(0)
    starts = jnp.asarray(rng.standard_normal((restarts, sum(sizes))) * rng.uniform(0.1, 1.0, (restarts, 1)))
    # JAX's own minimiser mixes ranks and dtypes inside.
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        run = jax.jit(jax.vmap(lambda start: minimize(objective, start, method="BFGS", options={"maxiter": 400}).fun))
        return float(np.nanmin(run(starts)))
