"""Inputs of signs."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._random import normals
from .._law import AbstractInputs, VectorMoments, independent_fourth, symmetric_moments


class RademacherInputs(AbstractInputs):
    """Independent coordinates that are scale or -scale: all inputs have the norm scale sqrt(d).

    >>> import jax
    >>> abs(RademacherInputs(2.0).sample(3, key=jax.random.key(0)))
    Array([2., 2., 2.], dtype=float64)
    """

    scale: Float[Array, ""]

    def __init__(self, scale: ArrayLike = 1.0):
        self.scale = jnp.asarray(scale, dtype=float)

    def __check_init__(self):
        _check.shape("inputs.scale", self.scale, (), "it is one number for all coordinates")
        _check.positive("inputs.scale", self.scale)

    def check(self, d: int) -> None:
        """Any d will do."""
        del d

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input."""
        return self.place(normals(key, d, self.scale.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """Their signs."""
        return jnp.where(normals < 0, -self.scale, self.scale)

    def moments(self, d: int) -> VectorMoments:
        """Those of d independent numbers of the kurtosis 1."""
        variance = np.full(d, float(self.scale) ** 2)
        return symmetric_moments(np.zeros(d), np.diag(variance), independent_fourth(variance, np.ones(d)))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """scale^2 I."""
        return self.scale**2 * jnp.eye(d, dtype=self.scale.dtype)
