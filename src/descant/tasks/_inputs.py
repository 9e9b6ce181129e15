"""The laws of the inputs x_i and of the query."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._linalg import psd_root
from .._random import normals


class AbstractInputs(eqx.Module):
    """A law of inputs in R^d, independent from token to token."""

    @abstractmethod
    def place(self, normals: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The inputs that standard normal numbers stand for."""

    def sample(self, n: int, d: int, *, key: PRNGKeyArray) -> Float[Array, "n d"]:
        """Draw n inputs."""
        return self.place(normals(key, n * d, self.second_moment(d).dtype).reshape(n, d))

    @abstractmethod
    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """E x x^T: the norm in which errors of the weight vector count."""

    @abstractmethod
    def check(self, d: int) -> None:
        """Raise a ValueError if the law is not one of inputs in R^d."""


class GaussianInputs(AbstractInputs):
    """x ~ N(0, cov); cov may be rank deficient."""

    cov: Float[Array, "d d"]

    def __init__(self, cov):
        self.cov = jnp.asarray(cov, dtype=float)

    def __check_init__(self):
        _check.covariance("inputs.cov", self.cov)

    @classmethod
    def isotropic(cls, d: int) -> "GaussianInputs":
        """Standard normal inputs."""
        _check.size("d", d)
        return cls(jnp.eye(d))

    @classmethod
    def conditioned(cls, d: int, condition: float) -> "GaussianInputs":
        """A diagonal covariance with log-spaced eigenvalues in the ratio 1 to 1/condition, scaled to trace d."""
        _check.size("d", d)
        _check.finite("input condition", condition)
        if condition < 1:
            raise ValueError(f"input condition is {condition}; expected a condition number of at least 1.")
        eigenvalues = jnp.logspace(0.0, -jnp.log10(jnp.asarray(condition, dtype=float)), d)
        return cls(jnp.diag(eigenvalues * (d / eigenvalues.sum())))

    def place(self, normals: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Times the root of the covariance."""
        return normals @ psd_root(self.cov)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """The covariance."""
        del d
        return self.cov

    def check(self, d: int) -> None:
        """The covariance must be d x d."""
        _check.shape("inputs.cov", self.cov, (d, d), f"d = {d}")


class UniformInputs(AbstractInputs):
    """Independent coordinates x_j ~ U(low, high)."""

    low: Float[Array, ""]
    high: Float[Array, ""]

    def __init__(self, low: ArrayLike = -1.0, high: ArrayLike = 1.0):
        self.low = jnp.asarray(low, dtype=float)
        self.high = jnp.asarray(high, dtype=float)

    def __check_init__(self):
        for name, value in (("inputs.low", self.low), ("inputs.high", self.high)):
            _check.shape(name, value, (), "it is one number for all coordinates")
            _check.finite(name, value)
        low, high = _check.concrete(self.low), _check.concrete(self.high)
        if low is not None and high is not None and not low < high:
            raise ValueError(f"inputs.low is {low} and inputs.high is {high}; expected low < high.")

    def place(self, normals: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Their quantiles."""
        return self.low + (self.high - self.low) * ndtr(normals)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Variance on the diagonal, and the squared mean everywhere."""
        mean, variance = (self.low + self.high) / 2, (self.high - self.low) ** 2 / 12
        return variance * jnp.eye(d, dtype=variance.dtype) + mean**2

    def check(self, d: int) -> None:
        """Any d will do."""
        del d
