"""Uniform inputs."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._random import normals
from .._law import AbstractInputs, VectorMoments, independent_fourth, symmetric_moments

# E u^4 / (E u^2)^2 of a uniform number about its mean.
KURTOSIS = 9 / 5


class UniformInputs(AbstractInputs):
    """Independent coordinates x_j ~ U(low, high); left out, U(-1, 1).

    >>> UniformInputs(0, 1).moments(2).mean
    array([0.5, 0.5])
    """

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

    def check(self, d: int) -> None:
        """Any d will do."""
        del d

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input."""
        return self.place(normals(key, d, self.low.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """Their quantiles."""
        return self.low + (self.high - self.low) * ndtr(normals)

    def moments(self, d: int) -> VectorMoments:
        """Those of d independent numbers."""
        low, high = float(self.low), float(self.high)
        variance = np.full(d, (high - low) ** 2 / 12)
        fourth = independent_fourth(variance, np.full(d, KURTOSIS))
        return symmetric_moments(np.full(d, (low + high) / 2), np.diag(variance), fourth)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Variance on the diagonal, and the squared mean everywhere."""
        mean, variance = (self.low + self.high) / 2, (self.high - self.low) ** 2 / 12
        return variance * jnp.eye(d, dtype=variance.dtype) + mean**2
