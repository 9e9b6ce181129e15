"""Noise levels whose square is inverse gamma distributed: the conjugate law."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import scipy
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._unknown import Unknown
from .._quadrature import peak_panels
from ._abstract import AbstractNoise, LogLikelihood, NoiseNodes

# The share of prompts whose noise level is above all nodes.
TAIL = 1e-14
# Below the prior's levels the density falls like exp(-scale / sigma^2); the data can move its peak to no less than
# sigma^2 = scale / (shape + n / 2), so this is enough for contexts of e^30 tokens.
BELOW = 15.0


class InverseGammaNoise(AbstractNoise):
    """sigma^2 has the density proportional to v^(-shape - 1) exp(-scale / v).

    With `labels` Gaussian, labels have Student-t noise of 2 shape degrees of freedom, but one scale a prompt.
    `shape` is a number, not an array: E sigma^p is finite for p < 2 shape only.

    >>> round(float(InverseGammaNoise(shape=3.0, scale=2.0).moment(2)), 6)
    1.0
    """

    shape: float = eqx.field(static=True)
    scale: Float[Array, ""]

    def __init__(self, shape: float, scale: ArrayLike):
        self.shape = float(shape)
        self.scale = jnp.asarray(scale, dtype=float)

    def __check_init__(self):
        _check.positive("noise.shape", self.shape)
        _check.shape("noise.scale", self.scale, (), "it is one number")
        _check.positive("noise.scale", self.scale)

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw a level."""
        dtype = self.scale.dtype
        return jnp.sqrt(self.scale / jax.random.gamma(key, jnp.asarray(self.shape, dtype), dtype=dtype))

    def moment(self, power: int) -> Float[Array, ""]:
        """scale^(power/2) Gamma(shape - power/2) / Gamma(shape)."""
        if power >= 2 * self.shape:
            raise Unknown(
                f"E sigma^{power} of InverseGammaNoise is infinite: its shape is {self.shape:g}, "
                f"not above {power / 2:g}"
            )
        return self.scale ** (power / 2) * math.exp(math.lgamma(self.shape - power / 2) - math.lgamma(self.shape))

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Panels around the peak of likelihood times density, in log sigma."""
        centre = 0.5 * jnp.log(self.scale)
        constant = math.log(2.0) - math.lgamma(self.shape)

        def log_prior(t):
            away = -2 * (t - centre)
            return constant + self.shape * away - jnp.exp(away)

        t, log_weights, log_check = peak_panels(
            lambda t: log_likelihood(jnp.exp(t)) + log_prior(t),
            centre - 0.5 * math.log(scipy.special.gammaincinv(self.shape, TAIL)),
            centre - 0.5 * math.log(self.shape + 1.0) - BELOW,
        )
        prior = log_prior(t)
        return NoiseNodes(jnp.exp(t), log_weights + prior, log_check + prior)
