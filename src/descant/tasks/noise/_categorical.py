"""One of a few noise levels."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from .._quantiles import chosen
from ._abstract import AbstractNoise, LogLikelihood, NoiseNodes


class CategoricalNoise(AbstractNoise):
    """One of finitely many levels, with the given weights (equal ones if left out).

    **Arguments:** `sigmas` (m,), none negative, and `weights` (m,) that add up to 1.

    >>> float(CategoricalNoise([0.0, 2.0], weights=[0.75, 0.25]).moment(2))
    1.0
    """

    sigmas: Float[Array, " m"]
    weights: Float[Array, " m"]

    def __init__(self, sigmas, weights=None):
        self.sigmas = jnp.asarray(sigmas, dtype=float)
        if weights is None:
            weights = jnp.full(self.sigmas.shape, 1.0 / max(self.sigmas.size, 1))
        self.weights = jnp.asarray(weights, dtype=float)

    def __check_init__(self):
        if self.sigmas.ndim != 1 or self.sigmas.size == 0:
            raise ValueError(f"noise.sigmas has shape {self.sigmas.shape}; expected a list of at least one level.")
        _check.not_negative("noise.sigmas", self.sigmas)
        _check.shape("noise.weights", self.weights, self.sigmas.shape, "each level has one weight")
        _check.weights("noise.weights", self.weights)

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw a level."""
        return self.place(jax.random.normal(key, (), self.sigmas.dtype))

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The level at this quantile."""
        return self.sigmas[chosen(self.weights, normal)]

    def moment(self, power: int) -> Float[Array, ""]:
        """The weighted mean of sigma^power."""
        return self.weights @ self.sigmas**power

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """The levels themselves: the sum is exact."""
        del log_likelihood
        log_weights = jnp.log(self.weights)
        return NoiseNodes(self.sigmas, log_weights, log_weights)
