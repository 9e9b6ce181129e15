"""A noise level that is known."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._arrays import Number, quietly, settled
from ._abstract import AbstractNoise, LogLikelihood, NoiseNodes, one_level


class FixedNoise(AbstractNoise):
    """The same noise level in every prompt; 0 is no noise.

    >>> float(FixedNoise(0.5).moment(2))
    0.25
    """

    sigma: Float[Array, ""]

    def __init__(self, sigma: ArrayLike):
        self.sigma = jnp.asarray(sigma, dtype=float)

    def __check_init__(self):
        _check.shape("noise.sigma", self.sigma, (), "a fixed noise level is one number")
        _check.not_negative("noise.sigma", self.sigma)
        _check.magnitude("noise.sigma", self.sigma)

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """The level."""
        del key
        return self.sigma

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The level."""
        del normal
        return self.sigma

    @quietly
    def moment(self, power: int) -> Number:
        """sigma^power."""
        return settled(self.sigma) ** power

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """The one level."""
        del log_likelihood
        return one_level(self.sigma)
