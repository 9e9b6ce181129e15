"""Laplace label noise."""

import math

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..._random import normals
from .._quantiles import laplace_quantile
from ._abstract import AbstractLabelNoise, LabelMoments


class LaplaceLabelNoise(AbstractLabelNoise):
    """eta has the density exp(-sqrt(2) |eta|) / sqrt(2): variance 1, and the fourth moment 6."""

    def sample(self, n: int, *, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw the noise of n labels."""
        return self.place(normals(key, n, float))

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normals: Float[Array, " n"]) -> Float[Array, " n"]:
        """Their quantiles."""
        return laplace_quantile(normals) / math.sqrt(2.0)

    def moments(self) -> LabelMoments:
        """1, 0, 6."""
        return LabelMoments(1.0, 0.0, 6.0)

    def log_density(self, eta: Float[Array, " n"]) -> Float[Array, " n"]:
        """-sqrt(2) |eta|, and a constant."""
        return -math.sqrt(2.0) * jnp.abs(eta) - 0.5 * math.log(2.0)
