"""Gaussian tasks."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check, _memory
from ..._linalg import psd_root
from ..._random import normals
from .._law import (
    AbstractPrior,
    AbstractVectorLaw,
    GaussianMixture,
    VectorMoments,
    elliptical_fourth,
    log_gaussian,
    symmetric_moments,
)


class GaussianPrior(AbstractPrior):
    """w ~ N(mean, cov), (d,) and (d, d); cov may be rank deficient.

    >>> GaussianPrior.isotropic(2, mean=1.0, scale=2.0).second_moment(2)
    Array([[5., 1.],
           [1., 5.]], dtype=float64)
    """

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
    def isotropic(cls, d: int, mean: ArrayLike = 0.0, scale: float = 1.0) -> "GaussianPrior":
        """The prior with `mean` (in every coordinate, or d numbers) and the covariance scale^2 I."""
        _check.size("d", d)
        _check.location("prior mean", mean, d)
        _check.not_negative("prior scale", scale)
        _check.magnitude("prior scale", scale)
        _memory.need(f"a covariance in d = {d} dimensions", 4 * d * d, "d")
        return cls(jnp.full(d, mean, dtype=float), scale**2 * jnp.eye(d))

    @classmethod
    def matching(cls, law: AbstractVectorLaw, d: int) -> "GaussianPrior":
        """The Gaussian with another law's mean and covariance: what rules that are linear in the labels see."""
        if isinstance(law, GaussianPrior):
            return law
        moments = law.moments(d)
        return cls(moments.mean, moments.cov)

    def check(self, d: int) -> None:
        """The mean must have d entries."""
        _check.shape("prior.mean", self.mean, (d,), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a task vector."""
        return self.place(normals(key, d, self.mean.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """The mean plus the covariance's root times the numbers."""
        return self.mean + psd_root(self.cov) @ normals

    def moments(self, d: int) -> VectorMoments:
        """By Wick's formula."""
        del d
        cov = np.asarray(self.cov)
        return symmetric_moments(np.asarray(self.mean), cov, elliptical_fourth(cov))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Covariance, and mean mean^T."""
        del d
        return self.cov + jnp.outer(self.mean, self.mean)

    def gaussian(self, d: int) -> tuple[Float[Array, " d"], Float[Array, "d d"]]:
        """The fields."""
        del d
        return self.mean, self.cov

    def components(self, d: int) -> GaussianMixture:
        """A single one."""
        del d
        return GaussianMixture(jnp.zeros(1, self.mean.dtype), self.mean[None], self.cov[None])

    def log_density(self, w: Float[Array, " d"]) -> Float[Array, ""]:
        """For a covariance of full rank."""
        return log_gaussian(w - self.mean, self.cov)
