"""Noise levels whose logarithm is uniform."""

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from .._quadrature import peak_panels
from ._abstract import AbstractNoise, LogLikelihood, NoiseNodes


class LogUniformNoise(AbstractNoise):
    """log sigma ~ U(log low, log high), 0 < low < high: every order of magnitude is as likely as every other.

    >>> round(float(LogUniformNoise(0.1, 10.0).moment(2)), 4)
    10.8563
    """

    low: Float[Array, ""]
    high: Float[Array, ""]

    def __init__(self, low: ArrayLike, high: ArrayLike):
        self.low = jnp.asarray(low, dtype=float)
        self.high = jnp.asarray(high, dtype=float)

    def __check_init__(self):
        for name, value in (("noise.low", self.low), ("noise.high", self.high)):
            _check.shape(name, value, (), "it is one number")
            _check.positive(name, value)
        low, high = _check.concrete(self.low), _check.concrete(self.high)
        if low is not None and high is not None and not low < high:
            raise ValueError(f"noise.low is {low} and noise.high is {high}; expected low < high.")

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw a level."""
        return self.place(jax.random.normal(key, (), self.high.dtype))

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The quantile."""
        return self.low * jnp.exp(self._width() * ndtr(normal))

    def moment(self, power: int) -> Float[Array, ""]:
        """(high^power - low^power) / (power log(high / low))."""
        return (self.high**power - self.low**power) / (power * self._width())

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Panels around the likelihood's peak, in log sigma."""
        t, log_weights, log_check = peak_panels(
            lambda t: log_likelihood(jnp.exp(t)), jnp.log(self.high), jnp.log(self.low)
        )
        density = jnp.log(self._width())
        return NoiseNodes(jnp.exp(t), log_weights - density, log_check - density)

    def _width(self) -> Float[Array, ""]:
        return jnp.log(self.high) - jnp.log(self.low)
