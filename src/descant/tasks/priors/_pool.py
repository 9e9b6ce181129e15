"""One of finitely many tasks."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check, _memory
from ..._random import normals
from .._law import AbstractPrior, GaussianMixture, VectorMoments, discrete_moments
from .._quantiles import chosen


class PoolPrior(AbstractPrior):
    """w is one of K tasks, with the given weights (equal ones if left out): how diverse tasks are is K.

    Of Raventos et al. (2023), "Pretraining task diversity and the emergence of non-Bayesian in-context learning for
    regression"; their dMMSE estimator is the posterior mean here.

    **Arguments:** `tasks` (K, d), and `weights` (K,) that add up to 1; `drawn` draws a pool.

    >>> import jax
    >>> PoolPrior.drawn(3, 16, key=jax.random.key(0)).tasks.shape
    (16, 3)
    """

    tasks: Float[Array, "K d"]
    weights: Float[Array, " K"]

    def __init__(self, tasks, weights=None):
        self.tasks = jnp.asarray(tasks, dtype=float)
        if weights is None:
            weights = jnp.full(self.tasks.shape[:1], 1.0 / max(len(self.tasks), 1))
        self.weights = jnp.asarray(weights, dtype=float)

    def __check_init__(self):
        if self.tasks.ndim != 2 or 0 in self.tasks.shape:
            raise ValueError(f"prior.tasks has shape {self.tasks.shape}; expected (tasks, d), with at least one task.")
        _check.finite("prior.tasks", self.tasks)
        _check.shape("prior.weights", self.weights, self.tasks.shape[:1], "each task has one weight")
        _check.weights("prior.weights", self.weights)

    @classmethod
    def drawn(cls, d: int, K: int, *, key: PRNGKeyArray, mean: ArrayLike = 0.0, scale: float = 1.0) -> "PoolPrior":
        """K tasks drawn once from N(mean, scale^2 I); `mean` is one number for all coordinates, or d of them."""
        _check.size("d", d)
        _check.size("K", K)
        _check.location("prior mean", mean, d)
        _check.not_negative("prior scale", scale)
        _check.magnitude("prior scale", scale)
        # The posterior sees each task as a Gaussian without width.
        _memory.need(f"a pool of {K} tasks in d = {d} dimensions", K * d * (d + 4), "the pool, or d")
        return cls(jnp.full((1, d), mean, dtype=float) + scale * normals(key, K * d, float).reshape(K, d))

    def check(self, d: int) -> None:
        """Tasks must have d entries."""
        _check.shape("prior.tasks", self.tasks, (self.tasks.shape[0], d), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw one of the tasks."""
        del d
        return self.place(normals(key, 1, self.tasks.dtype))

    def numbers(self, d: int) -> int:
        """One, which chooses."""
        del d
        return 1

    def place(self, normals: Float[Array, " 1"]) -> Float[Array, " d"]:
        """The task at this quantile."""
        return self.tasks[chosen(self.weights, normals[0])]

    def moments(self, d: int) -> VectorMoments:
        """Sums over the tasks."""
        del d
        return discrete_moments(np.asarray(self.tasks), np.asarray(self.weights))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """The weighted mean of w w^T."""
        del d
        return self.tasks.T @ (self.weights[:, None] * self.tasks)

    def components(self, d: int) -> GaussianMixture:
        """The tasks, as Gaussians without width."""
        covs = jnp.zeros((self.tasks.shape[0], d, d), self.tasks.dtype)
        return GaussianMixture(jnp.log(self.weights), self.tasks, covs)
