"""Gaussian inputs."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check, _memory
from ..._linalg import psd_root
from ..._random import normals
from .._law import AbstractInputs, VectorMoments, elliptical_fourth, symmetric_moments


class GaussianInputs(AbstractInputs):
    """x ~ N(0, cov); cov (d, d) may be rank deficient.

    >>> GaussianInputs.conditioned(2, condition=3.0).cov
    Array([[1.5, 0. ],
           [0. , 0.5]], dtype=float64)
    """

    cov: Float[Array, "d d"]

    def __init__(self, cov):
        self.cov = jnp.asarray(cov, dtype=float)

    def __check_init__(self):
        _check.covariance("inputs.cov", self.cov)

    @classmethod
    def isotropic(cls, d: int) -> "GaussianInputs":
        """Standard normal inputs."""
        _check.size("d", d)
        _memory.need(f"a covariance in d = {d} dimensions", 4 * d * d, "d")
        return cls(jnp.eye(d))

    @classmethod
    def conditioned(cls, d: int, condition: float) -> "GaussianInputs":
        """A diagonal covariance with log-spaced eigenvalues in the ratio 1 to 1/condition, scaled to trace d."""
        _check.size("d", d)
        _check.finite("input condition", condition)
        if condition < 1:
            raise ValueError(f"input condition is {condition}; expected a condition number of at least 1.")
        _memory.need(f"a covariance in d = {d} dimensions", 4 * d * d, "d")
        return cls._of_trace_d(jnp.logspace(0.0, -jnp.log10(jnp.asarray(condition, dtype=float)), d))

    @classmethod
    def power_law(cls, d: int, exponent: float) -> "GaussianInputs":
        """A diagonal covariance with the eigenvalues j^-exponent, j = 1, ..., d, scaled to trace d.

        >>> GaussianInputs.power_law(2, 1.0).cov.diagonal().round(3)
        Array([1.333, 0.667], dtype=float64)
        """
        _check.size("d", d)
        _memory.need(f"a covariance in d = {d} dimensions", 4 * d * d, "d")
        eigenvalues = jnp.arange(1.0, d + 1.0) ** -exponent
        _check.finite(f"the input spectrum j^-{exponent:g}", eigenvalues)
        return cls._of_trace_d(eigenvalues)

    @classmethod
    def _of_trace_d(cls, eigenvalues: Float[Array, " d"]) -> "GaussianInputs":
        return cls(jnp.diag(eigenvalues * (eigenvalues.shape[0] / eigenvalues.sum())))

    def check(self, d: int) -> None:
        """The covariance must be d x d."""
        _check.shape("inputs.cov", self.cov, (d, d), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input."""
        return self.place(normals(key, d, self.cov.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """The covariance's root times the numbers."""
        return normals @ psd_root(self.cov)

    def moments(self, d: int) -> VectorMoments:
        """By Wick's formula."""
        cov = np.asarray(self.cov)
        return symmetric_moments(np.zeros(d), cov, elliptical_fourth(cov))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """The covariance."""
        del d
        return self.cov

    def centred_gaussian(self, d: int) -> Float[Array, "d d"]:
        """The covariance."""
        del d
        return self.cov
