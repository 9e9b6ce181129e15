"""Shared inputs: random problems, and one table of tasks and of estimators that every property runs over."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from descant import (
    CategoricalNoise,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    UniformInputs,
    UniformNoise,
)
from descant.estimators import (
    GD,
    OLS,
    AdaRidge,
    Bayes,
    ConstRidge,
    GDBeta,
    GDPlusPlus,
    GramAffine,
    OracleRidge,
    PreconditionedGD,
    TunedRidge,
    Zero,
)
from descant.theory import Problem


def random_covariance(d: int, seed: int, rank: int | None = None) -> np.ndarray:
    """A dense, well-spread covariance; of lower rank if asked."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((d, d if rank is None else rank))
    return factor @ factor.T / d + (0.2 * np.eye(d) if rank is None else 0)


def random_task(seed: int, d: int = 3, n: int = 6, noise=None) -> LinearRegression:
    """Anisotropic inputs, an anisotropic prior with a mean, and noise."""
    rng = np.random.default_rng(1000 + seed)
    noise = (
        [FixedNoise(0.7), UniformNoise(1.5), CategoricalNoise([0.3, 1.2], [0.4, 0.6])][seed % 3]
        if noise is None
        else noise
    )
    prior = GaussianPrior(rng.standard_normal(d), random_covariance(d, 10 + seed))
    return LinearRegression(d, n, prior, GaussianInputs(random_covariance(d, 20 + seed)), noise)


def random_problem(seed: int, d: int = 3, n: int = 6) -> Problem:
    return Problem.of(random_task(seed, d, n))


def low_rank_task(seed: int, inputs_rank: int = 2, prior_rank: int = 2, d: int = 4, n: int = 7) -> LinearRegression:
    """Inputs and prior that miss directions."""
    rng = np.random.default_rng(2000 + seed)
    prior = GaussianPrior(rng.standard_normal(d), random_covariance(d, 30 + seed, prior_rank))
    return LinearRegression(d, n, prior, GaussianInputs(random_covariance(d, 40 + seed, inputs_rank)), FixedNoise(0.5))


TASKS = {
    "plain": LinearRegression(4, 9),
    "short": LinearRegression(4, 2, noise=FixedNoise(0.3)),
    "fixed": random_task(0),
    "uniform": random_task(1),
    "categorical": random_task(2),
    "low rank": low_rank_task(0),
    "uniform inputs": LinearRegression(3, 8, inputs=UniformInputs(-1.0, 2.0), noise=FixedNoise(0.2)),
}


def estimators(task: LinearRegression) -> dict:
    """One of each kind."""
    d, prior = task.d, task.prior
    rng = np.random.default_rng(5)
    gamma = rng.standard_normal((d, d)) / 4
    table = {
        "zero": Zero(),
        "ols": OLS(),
        "gd": GD(jnp.full(d, 0.1), [0.2, 0.1, 0.05]),
        "preconditioned-gd": PreconditionedGD(gamma),
        "gd-beta": GDBeta(rng.standard_normal(d), gamma),
        "gd++": GDPlusPlus([0.01, 0.02], [0.003, 0.0]),
        "oracle": OracleRidge(prior),
        "const": ConstRidge(prior, 0.5),
        "bayes": Bayes(task),
        "gram": GramAffine(rng.standard_normal(d), rng.standard_normal((d, d + 1, d + 1)) / 5),
    }
    if task.n > d:
        table |= {"ada": AdaRidge(prior), "tuned": TunedRidge(prior, 1.3, 2.0)}
    return table


def batch(task: LinearRegression, count: int, key, moments: bool = False):
    """Many prompts, or the moments of many contexts."""
    return _batch(task, jax.random.split(key, count), moments)


@eqx.filter_jit
def _batch(task: LinearRegression, keys, moments: bool):
    draw = task.sample_moments if moments else task.sample
    return jax.vmap(lambda key: draw(key=key))(keys)


def z_scores(values, expected) -> np.ndarray:
    """(mean - expected) / standard error over the first axis."""
    values = np.asarray(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(values.shape[0])
    return (values.mean(axis=0) - np.asarray(expected)) / error
