"""The laws of the noise level: one standard deviation per prompt.

Each law also says how to integrate over the noise level given a context (`nodes`), which is all that the posterior of a
noise mixture needs.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from ._quadrature import peak_panels

LogLikelihood = Callable[[Float[Array, " m"]], Float[Array, " m"]]


class NoiseNodes(NamedTuple):
    """Noise levels with the logarithms of their prior weights; `log_check` weighs a coarser rule on the same nodes.

    The two rules together give an error estimate; for a discrete law they are the same and the error is 0. A node that
    the coarser rule leaves out has log weight -inf there.
    """

    sigmas: Float[Array, " m"]
    log_weights: Float[Array, " m"]
    log_check: Float[Array, " m"]


class AbstractNoise(eqx.Module):
    """A law of the noise level sigma >= 0 of a prompt."""

    @abstractmethod
    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The noise level that a standard normal number stands for."""

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw the noise level of a prompt."""
        return self.place(jax.random.normal(key, (), self.moment(1).dtype))

    @abstractmethod
    def moment(self, power: int) -> Float[Array, ""]:
        """E sigma^power."""

    @abstractmethod
    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Nodes and weights that integrate likelihood times a smooth function over the law."""


class FixedNoise(AbstractNoise):
    """The same noise level in every prompt."""

    sigma: Float[Array, ""]

    def __init__(self, sigma: ArrayLike):
        self.sigma = jnp.asarray(sigma, dtype=float)

    def __check_init__(self):
        _check.shape("noise.sigma", self.sigma, (), "a fixed noise level is one number")
        _check.not_negative("noise.sigma", self.sigma)

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The level."""
        del normal
        return self.sigma

    def moment(self, power: int) -> Float[Array, ""]:
        """sigma^power."""
        return self.sigma**power

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """The one level."""
        del log_likelihood
        one = jnp.zeros(1)
        return NoiseNodes(self.sigma[None], one, one)


class CategoricalNoise(AbstractNoise):
    """One of finitely many levels, with the given weights (equal ones if left out)."""

    sigmas: Float[Array, " m"]
    weights: Float[Array, " m"]

    def __init__(self, sigmas, weights=None):
        self.sigmas = jnp.asarray(sigmas, dtype=float)
        if weights is None:
            weights = jnp.full(self.sigmas.shape, 1.0 / max(self.sigmas.size, 1))
        self.weights = jnp.asarray(weights, dtype=float)

    def __check_init__(self):
        if self.sigmas.ndim != 1 or self.sigmas.size == 0:
            raise ValueError(f"noise.sigmas has shape {self.sigmas.shape}; expected a list of at least one level.")
        _check.not_negative("noise.sigmas", self.sigmas)
        _check.shape("noise.weights", self.weights, self.sigmas.shape, "each level has one weight")
        _check.not_negative("noise.weights", self.weights)
        weights = _check.concrete(self.weights)
        if weights is not None and abs(weights.sum() - 1.0) > 1e-9:
            raise ValueError(f"noise.weights sum to {weights.sum():.9g}; expected 1.")

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The level at this quantile."""
        below = ndtr(normal) >= jnp.cumsum(self.weights)[:-1]
        return self.sigmas[jnp.sum(below)]

    def moment(self, power: int) -> Float[Array, ""]:
        """The weighted mean of sigma^power."""
        return self.weights @ self.sigmas**power

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """The levels themselves: the sum is exact."""
        del log_likelihood
        log_weights = jnp.log(self.weights)
        return NoiseNodes(self.sigmas, log_weights, log_weights)


class UniformNoise(AbstractNoise):
    """sigma ~ U(0, high)."""

    high: Float[Array, ""]

    def __init__(self, high: ArrayLike):
        self.high = jnp.asarray(high, dtype=float)

    def __check_init__(self):
        _check.shape("noise.high", self.high, (), "it is one number")
        _check.finite("noise.high", self.high)
        high = _check.concrete(self.high)
        if high is not None and high <= 0:
            raise ValueError(f"noise.high is {high}; expected a positive number (FixedNoise(0) means no noise).")

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The quantile."""
        return self.high * ndtr(normal)

    def moment(self, power: int) -> Float[Array, ""]:
        """high^power / (power + 1)."""
        return self.high**power / (power + 1)

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Panels around the likelihood's peak, in log sigma, where its shape doesn't depend on the noise level."""
        top = jnp.log(self.high)

        def log_density(t):
            return log_likelihood(jnp.exp(t)) + t - top

        t, log_weights, log_check = peak_panels(log_density, top)
        return NoiseNodes(jnp.exp(t), log_weights + t - top, log_check + t - top)


def parse_noise(spec: str) -> AbstractNoise:
    """The law that a short text means: `0.5` one level, `uniform:5` levels from U(0, 5), `1,3` either of two levels.

    >>> parse_noise("1,3").moment(2)
    Array(5., dtype=float64)
    """
    expected = "expected a level such as 0.5, a uniform law such as uniform:5, or a list of levels such as 1,3"
    kind, colon, top = spec.partition(":")
    numbers = top if colon else spec
    try:
        levels = [float(part) for part in numbers.split(",")]
    except ValueError:
        levels = []
    if not levels or (colon and (kind != "uniform" or len(levels) > 1)):
        raise ValueError(f"noise is {spec!r}; {expected}.")
    _check.not_negative("noise", levels if len(levels) > 1 else levels[0])
    if colon:
        # U(0, 0) is how the papers' tables write "no noise".
        return UniformNoise(levels[0]) if levels[0] > 0 else FixedNoise(0.0)
    return CategoricalNoise(levels) if len(levels) > 1 else FixedNoise(levels[0])
