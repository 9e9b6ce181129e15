"""Tasks from a mixture of Gaussians."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._linalg import psd_root
from ..._random import normals
from .._law import (
    AbstractPrior,
    GaussianMixture,
    VectorMoments,
    elliptical_fourth,
    log_gaussian,
    mixed_moments,
    symmetric_moments,
)
from .._quantiles import chosen


class GaussianMixturePrior(AbstractPrior):
    """w ~ N(means_k, covs_k) with probability weights_k; covs may be rank deficient.

    **Arguments:** `weights` (K,) that add up to 1, `means` (K, d), `covs` (K, d, d).

    >>> prior = GaussianMixturePrior([0.5, 0.5], [[1.0, 1.0], [-1.0, -1.0]], [jnp.eye(2), jnp.eye(2)])
    >>> prior.moments(2).second
    array([[2., 1.],
           [1., 2.]])
    """

    weights: Float[Array, " K"]
    means: Float[Array, "K d"]
    covs: Float[Array, "K d d"]

    def __init__(self, weights, means, covs):
        self.weights = jnp.asarray(weights, dtype=float)
        self.means = jnp.asarray(means, dtype=float)
        self.covs = jnp.asarray(covs, dtype=float)

    def __check_init__(self):
        if self.means.ndim != 2 or 0 in self.means.shape:
            raise ValueError(f"prior.means has shape {self.means.shape}; expected (parts, d).")
        parts, d = self.means.shape
        _check.finite("prior.means", self.means)
        _check.shape("prior.weights", self.weights, (parts,), f"prior.means has {parts} rows")
        _check.weights("prior.weights", self.weights)
        _check.shape("prior.covs", self.covs, (parts, d, d), f"prior.means has shape {self.means.shape}")
        for cov in self.covs:
            _check.covariance("prior.covs", cov)

    def check(self, d: int) -> None:
        """Means must have d entries."""
        _check.shape("prior.means", self.means, (self.means.shape[0], d), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a part, and a task from it."""
        return self.place(normals(key, d + 1, self.means.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate, and one that chooses the part."""
        return d + 1

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """The part at the first number's quantile; its mean plus its covariance's root times the others."""
        part = chosen(self.weights, normals[0])
        return self.means[part] + psd_root(self.covs[part]) @ normals[1:]

    def moments(self, d: int) -> VectorMoments:
        """By Wick's formula for each part."""
        del d
        means, covs = np.asarray(self.means), np.asarray(self.covs)
        parts = [symmetric_moments(m, cov, elliptical_fourth(cov)) for m, cov in zip(means, covs, strict=True)]
        return mixed_moments(np.asarray(self.weights), parts)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """The mean of those of the parts."""
        del d
        return jnp.einsum("k,kij->ij", self.weights, self.covs + self.means[:, :, None] * self.means[:, None, :])

    def components(self, d: int) -> GaussianMixture:
        """The parts."""
        del d
        return GaussianMixture(jnp.log(self.weights), self.means, self.covs)

    def log_density(self, w: Float[Array, " d"]) -> Float[Array, ""]:
        """That of the mixture; NaN off the range of a rank deficient part's covariance, where it should be -inf."""
        parts = jnp.stack([log_gaussian(w - mean, cov) for mean, cov in zip(self.means, self.covs, strict=True)])
        return logsumexp(jnp.log(self.weights) + parts)
