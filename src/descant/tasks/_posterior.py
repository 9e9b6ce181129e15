"""The posterior of the task vector given a context: a mixture over what the prior and the noise level may be."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from ._law import GaussianMixture
from ._prompt import Moments
from ._spectrum import Spectrum
from .noise import LogLikelihood, NoiseNodes


class Posterior(eqx.Module):
    """Mean and covariance of w given a context.

    `error` estimates, coordinate by coordinate, how far quadrature over the noise level has the mean wrong: the
    difference to a rule of lower order, so it overstates. It is 0 where no quadrature was needed.
    """

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]
    error: Float[Array, " d"]


def probabilities(log_posterior: Float[Array, "k m"], order: Float[Array, "k m"]) -> Float[Array, "k m"]:
    """Normalised exp(log_posterior) of those that grow fastest: `order` is the power of 1/sigma of an exact fit."""
    possible = log_posterior > -jnp.inf
    fastest = possible & (order == jnp.max(jnp.where(possible, order, -jnp.inf)))
    log_posterior = jnp.where(fastest, log_posterior, -jnp.inf)
    # Without noise there may be none that fits: then all are as good as each other.
    largest = jnp.max(log_posterior)
    weights = jnp.exp(jnp.where(largest > -jnp.inf, log_posterior - largest, 0.0))
    return weights / jnp.sum(weights)


class WeighedRidges(NamedTuple):
    """What a context says of which Gaussian of the prior and which noise level it came from.

    `spectra` holds the context as each of k Gaussians sees it, and given one of them and one of the m `sigmas` the
    posterior is that of ridge regression. `log_prior` is what the prior says of the pairs; `check` weighs a rougher
    rule.
    """

    spectra: Spectrum
    sigmas: Float[Array, " m"]
    log_prior: Float[Array, "k m"]
    weights: Float[Array, "k m"]
    check: Float[Array, "k m"]

    @classmethod
    def of(
        cls, mixture: GaussianMixture, nodes: Callable[[LogLikelihood], NoiseNodes], moments: Moments
    ) -> "WeighedRidges":
        """For a context that came from one of the Gaussians of a `mixture`.

        **Arguments:** `nodes` gives the noise levels and their weights for a likelihood (`AbstractNoise.nodes`).
        """
        spectra = jax.vmap(lambda mean, cov: Spectrum.of(mean, cov, moments))(mixture.means, mixture.covs)

        def log_joint(sigmas: Float[Array, " m"]) -> Float[Array, "k m"]:
            return jax.vmap(lambda each: each.log_likelihood(sigmas))(spectra) + mixture.log_weights[:, None]

        single = mixture.log_weights.shape[0] == 1
        sigmas, log_weights, log_check = nodes(
            lambda sigmas: log_joint(sigmas)[0] if single else logsumexp(log_joint(sigmas), axis=0)
        )
        joint = log_joint(sigmas)
        order = jax.vmap(lambda each: each.order(sigmas))(spectra)
        weights = probabilities(joint + log_weights[None, :], order)
        check = probabilities(joint + log_check[None, :], order)
        return cls(spectra, sigmas, mixture.log_weights[:, None] + log_weights[None, :], weights, check)


def mixture_posterior(
    mixture: GaussianMixture, nodes: Callable[[LogLikelihood], NoiseNodes], moments: Moments
) -> Posterior:
    """Ridge posteriors, one per Gaussian of the prior and noise level, weighed by what the context says of the two.

    **Arguments:** `nodes` gives the noise levels and their weights for a likelihood (`AbstractNoise.nodes`); with a
    single one (`one_level`) the level is known, and with a single Gaussian the posterior is that of ridge regression.
    """
    spectra, sigmas, _, weights, check = WeighedRidges.of(mixture, nodes, moments)

    def given_component(spectrum: Spectrum, weights: Float[Array, " m"], check: Float[Array, " m"]):
        """Sums over noise levels, in the coordinates z of w = mean + directions z: of 1, z, the rougher z and z z^T."""
        z = jax.vmap(lambda sigma: spectrum.shrinkage(sigma**2) * spectrum.slope)(sigmas)
        remaining = jax.vmap(lambda sigma: spectrum.remaining(sigma**2))(sigmas)
        share = jnp.sum(weights)
        centre = weights @ z / jnp.where(share > 0, share, 1.0)
        apart = z - centre[None, :]
        spread = jnp.diag(weights @ remaining) + apart.T @ (weights[:, None] * apart)
        directions = spectrum.directions
        rougher = jnp.sum(check) * spectrum.mean + directions @ (check @ z)
        return share, spectrum.mean + directions @ centre, rougher, directions @ spread @ directions.T

    shares, means, rougher, spreads = jax.vmap(given_component)(spectra, weights, check)
    mean = shares @ means
    apart = means - mean[None, :]
    cov = jnp.sum(spreads, axis=0) + apart.T @ (shares[:, None] * apart)
    return Posterior(mean, cov, jnp.abs(mean - jnp.sum(rougher, axis=0)))
