"""A context in the coordinates in which its posterior is diagonal."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .. import _check
from .._linalg import eigh, from_spectrum, psd_root, rank_tolerance, safe_reciprocal
from ._prompt import Moments


class Spectrum(NamedTuple):
    """The context seen through the prior: w = mean + directions @ z with z ~ N(0, I), in the eigenbasis of the data.

    In these coordinates the context says that z_i has precision eigenvalues_i / sigma^2 and least-squares value
    slope_i / eigenvalues_i. What the data can't be blamed on any z is the residual: `residual` is its sum of squares,
    `freedom` its degrees of freedom (n less the rank of the data).

    `Spectrum.of(mean, cov, moments)` makes one; `ridge(variance)` and `ridge_covariance(variance)` are then the
    posterior's mean and covariance for any noise variance, at the cost of a product.
    """

    mean: Float[Array, " d"]
    directions: Float[Array, "d d"]
    eigenvalues: Float[Array, " d"]
    nonzero: Bool[Array, " d"]
    slope: Float[Array, " d"]
    residual: Float[Array, ""]
    freedom: Float[Array, ""]

    @classmethod
    def of(cls, mean: Float[Array, " d"], cov: Float[Array, "d d"], moments: Moments) -> "Spectrum":
        """Rotate the moments of a context into the eigenbasis of R X^T X R, where R R = cov, for w ~ N(mean, cov)."""
        _check.inputs(mean.shape[0], moments.d)
        root = psd_root(cov)
        xy = moments.xy - moments.xx @ mean
        # y - X mean, squared and summed.
        yy = moments.yy - mean @ (moments.xy + xy)
        eigenvalues, vectors = eigh(root @ moments.xx @ root)
        nonzero = eigenvalues > rank_tolerance(eigenvalues)
        eigenvalues = jnp.where(nonzero, eigenvalues, 0.0)
        slope = jnp.where(nonzero, vectors.T @ (root @ xy), 0.0)
        freedom = moments.n - jnp.sum(nonzero).astype(eigenvalues.dtype)
        residual = yy - jnp.sum(slope**2 * safe_reciprocal(eigenvalues, nonzero))
        # The residual is a difference of sums of squares of the size of y^T y: below their rounding it is zero.
        rounding = 16 * moments.d * jnp.finfo(eigenvalues.dtype).eps * moments.yy
        residual = jnp.where((freedom > 0) & (residual > rounding), residual, 0.0)
        return cls(mean, root @ vectors, eigenvalues, nonzero, slope, residual, freedom)

    def log_likelihood(self, sigma: Float[Array, " m"]) -> Float[Array, " m"]:
        """log N(y; X mean, X cov X^T + sigma^2 I) less a constant, for each of m noise levels.

        At sigma = 0 it is -inf if the data doesn't fit; if it does, it is what remains beside a power of 1/sigma,
        see `order`.
        """
        variance = sigma[:, None] ** 2
        spread = jnp.where(self.nonzero, self.eigenvalues, 1.0)[None, :]
        total = spread + variance
        explained = jnp.log(total) + self.slope[None, :] ** 2 / (spread * total)
        signal = jnp.sum(jnp.where(self.nonzero[None, :], explained, 0.0), axis=1)
        positive = variance[:, 0] > 0
        safe = jnp.where(positive, variance[:, 0], 1.0)
        noise = self.freedom * jnp.log(safe) + self.residual / safe
        at_zero = jnp.where(self.residual > 0, jnp.inf, 0.0)
        return -0.5 * (signal + jnp.where(positive, noise, at_zero))

    def order(self, sigma: Float[Array, " m"]) -> Float[Array, " m"]:
        """The power of 1/sigma with which the likelihood of an exact fit grows; 0 at levels above 0."""
        return jnp.where(sigma**2 > 0, 0.0, self.freedom)

    def shrinkage(self, variance: Float[Array, ""]) -> Float[Array, " d"]:
        """1 / (eigenvalues + variance), with the pseudo-inverse's 0 where both vanish."""
        total = self.eigenvalues + variance
        return safe_reciprocal(total, total > 0)

    def ridge(self, variance: Float[Array, ""]) -> Float[Array, " d"]:
        """The posterior mean when the noise variance is known: ridge regression towards the prior mean."""
        return self.mean + self.directions @ (self.shrinkage(variance) * self.slope)

    def ridge_covariance(self, variance: Float[Array, ""]) -> Float[Array, "d d"]:
        """The posterior covariance when the noise variance is known."""
        return from_spectrum(self.remaining(variance), self.directions)

    def remaining(self, variance: Float[Array, ""]) -> Float[Array, " d"]:
        """Posterior variance of each z_i: variance / (eigenvalue + variance), and 1 where the data says nothing."""
        return jnp.where(self.nonzero, variance * self.shrinkage(variance), 1.0)
