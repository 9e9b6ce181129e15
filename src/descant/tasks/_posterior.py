"""The posterior of the task vector given a context: closed form for a known noise level, a mixture otherwise."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._noise import AbstractNoise
from ._prior import GaussianPrior
from ._prompt import Moments
from ._spectrum import Spectrum


class Posterior(eqx.Module):
    """Mean and covariance of w given a context.

    `error` estimates, coordinate by coordinate, how far quadrature over the noise level has the mean wrong: the
    difference to a rule of lower order, so it overstates. It is 0 where no quadrature was needed.
    """

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]
    error: Float[Array, " d"]


def known_noise_posterior(prior: GaussianPrior, moments: Moments, sigma: Float[Array, ""]) -> Posterior:
    """N(mean, cov) of w given the context and its noise level: ridge regression towards the prior mean."""
    spectrum = Spectrum.of(prior, moments)
    mean = spectrum.ridge(sigma**2)
    return Posterior(mean, spectrum.ridge_covariance(sigma**2), jnp.zeros_like(mean))


def noise_probabilities(log_posterior: Float[Array, " m"]) -> Float[Array, " m"]:
    """Normalised weights exp(log_posterior); a level at +inf (an exact fit without noise) takes everything."""
    # -inf + inf: a level that the prior rules out stays out, however well it fits.
    log_posterior = jnp.where(jnp.isnan(log_posterior), -jnp.inf, log_posterior)
    certain = jnp.isposinf(log_posterior)
    shifted = jnp.where(certain, 0.0, log_posterior) - jnp.max(jnp.where(certain, -jnp.inf, log_posterior))
    weights = jnp.where(jnp.any(certain), certain.astype(log_posterior.dtype), jnp.exp(shifted))
    return weights / jnp.sum(weights)


def mixture_posterior(prior: GaussianPrior, noise: AbstractNoise, moments: Moments) -> Posterior:
    """The posterior when only the law of the noise level is known: p(sigma | context) weighs the ridge posteriors."""
    spectrum = Spectrum.of(prior, moments)
    sigmas, log_weights, log_check = noise.nodes(spectrum.log_likelihood)
    log_likelihood = spectrum.log_likelihood(sigmas)
    weights = noise_probabilities(log_likelihood + log_weights)
    z = jax.vmap(lambda sigma: spectrum.shrinkage(sigma**2) * spectrum.slope)(sigmas)
    remaining = jax.vmap(lambda sigma: spectrum.remaining(sigma**2))(sigmas)
    z_mean = weights @ z
    z_check = noise_probabilities(log_likelihood + log_check) @ z
    centred = z - z_mean[None, :]
    z_cov = jnp.diag(weights @ remaining) + centred.T @ (weights[:, None] * centred)
    directions = spectrum.directions
    return Posterior(
        mean=spectrum.mean + directions @ z_mean,
        cov=directions @ z_cov @ directions.T,
        error=jnp.abs(directions @ (z_mean - z_check)),
    )
