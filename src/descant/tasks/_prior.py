"""The law of the task vector."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._linalg import psd_root


class GaussianPrior(eqx.Module):
    """w ~ N(mean, cov); cov may be rank deficient."""

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]

    def __init__(self, mean, cov):
        self.mean = jnp.asarray(mean, dtype=float)
        self.cov = jnp.asarray(cov, dtype=float)

    def __check_init__(self):
        _check.covariance("prior.cov", self.cov)
        _check.shape("prior.mean", self.mean, self.cov.shape[:1], f"prior.cov has shape {self.cov.shape}")
        _check.finite("prior.mean", self.mean)

    @classmethod
    def isotropic(cls, d: int, mean: float = 0.0, scale: float = 1.0) -> "GaussianPrior":
        """The prior with `mean` in every coordinate and the covariance scale^2 I."""
        _check.size("d", d)
        _check.finite("prior mean", mean)
        _check.not_negative("prior scale", scale)
        return cls(jnp.full(d, mean, dtype=float), scale**2 * jnp.eye(d))

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a task vector."""
        return self.place(jax.random.normal(key, self.mean.shape, self.mean.dtype))

    def place(self, normal: Float[Array, " d"]) -> Float[Array, " d"]:
        """The task vector that d standard normal numbers stand for."""
        return self.mean + psd_root(self.cov) @ normal
