"""Noise levels from a uniform law."""

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from .._quadrature import peak_panels
from ._abstract import AbstractNoise, LogLikelihood, NoiseNodes


class UniformNoise(AbstractNoise):
    """sigma ~ U(0, high), with high > 0.

    >>> float(UniformNoise(3.0).moment(2))
    3.0
    """

    high: Float[Array, ""]

    def __init__(self, high: ArrayLike):
        self.high = jnp.asarray(high, dtype=float)

    def __check_init__(self):
        _check.shape("noise.high", self.high, (), "it is one number")
        _check.finite("noise.high", self.high)
        high = _check.concrete(self.high)
        if high is not None and high <= 0:
            raise ValueError(f"noise.high is {high}; expected a positive number (FixedNoise(0) means no noise).")

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw a level."""
        return self.place(jax.random.normal(key, (), self.high.dtype))

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The quantile."""
        return self.high * ndtr(normal)

    def moment(self, power: int) -> Float[Array, ""]:
        """high^power / (power + 1)."""
        return self.high**power / (power + 1)

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Panels around the likelihood's peak, in log sigma, where its shape doesn't depend on the noise level."""
        top = jnp.log(self.high)

        def log_density(t):
            return log_likelihood(jnp.exp(t)) + t - top

        t, log_weights, log_check = peak_panels(log_density, top)
        return NoiseNodes(jnp.exp(t), log_weights + t - top, log_check + t - top)
