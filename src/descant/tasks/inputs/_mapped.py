"""Any law of inputs, seen through a matrix: another covariance."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._linalg import psd_root
from .._law import AbstractInputs, VectorMoments, mapped_moments


class MappedInputs(AbstractInputs):
    """x = matrix z, with z from another law; whatever is known of that is known of this.

    **Arguments:** `law` is that of z, `matrix` is (d, d); `with_covariance` takes a covariance instead.

    >>> from descant.tasks import SphereInputs
    >>> MappedInputs(SphereInputs(), 2 * jnp.eye(3)).moments(3).second[0]
    array([4., 0., 0.])
    """

    law: AbstractInputs
    matrix: Float[Array, "d d"]

    def __init__(self, law: AbstractInputs, matrix):
        self.law = law
        self.matrix = jnp.asarray(matrix, dtype=float)

    def __check_init__(self):
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(f"inputs.matrix has shape {self.matrix.shape}; expected a square matrix.")
        _check.finite("inputs.matrix", self.matrix)

    @classmethod
    def with_covariance(cls, law: AbstractInputs, cov) -> "MappedInputs":
        """A law of covariance I, mapped by the root of another, `cov` (d, d)."""
        cov = jnp.asarray(cov, dtype=float)
        _check.covariance("cov", cov)
        return cls(law, psd_root(cov))

    def check(self, d: int) -> None:
        """The matrix must be d x d."""
        _check.shape("inputs.matrix", self.matrix, (d, d), f"d = {d}")
        self.law.check(d)

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input, and map it."""
        return self.matrix @ self.law.sample(d, key=key).astype(self.matrix.dtype)

    def numbers(self, d: int) -> int | None:
        """As many as the law takes."""
        return self.law.numbers(d)

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """The law's, mapped."""
        return self.matrix @ self.law.place(normals)

    def moments(self, d: int) -> VectorMoments:
        """The law's, mapped."""
        return mapped_moments(np.asarray(self.matrix), self.law.moments(d))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """The law's, mapped."""
        return self.matrix @ self.law.second_moment(d).astype(self.matrix.dtype) @ self.matrix.T

    def centred_gaussian(self, d: int) -> Float[Array, "d d"]:
        """The law's, mapped, if it is Gaussian."""
        return self.matrix @ self.law.centred_gaussian(d) @ self.matrix.T
