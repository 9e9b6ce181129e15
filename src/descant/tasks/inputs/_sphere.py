"""Inputs on a sphere."""

import math

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._random import normals
from .._law import AbstractInputs, VectorMoments, elliptical_fourth, symmetric_moments


class SphereInputs(AbstractInputs):
    """x is uniform on the sphere of this radius; left out, it is sqrt(d), and the covariance is I.

    >>> SphereInputs(radius=3.0).moments(2).second
    array([[4.5, 0. ],
           [0. , 4.5]])
    """

    radius: Float[Array, ""] | None

    def __init__(self, radius: ArrayLike | None = None):
        self.radius = None if radius is None else jnp.asarray(radius, dtype=float)

    def __check_init__(self):
        if self.radius is not None:
            _check.shape("inputs.radius", self.radius, (), "it is one number")
            _check.positive("inputs.radius", self.radius)

    def check(self, d: int) -> None:
        """Any d will do."""
        del d

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input."""
        return self.place(normals(key, d, float if self.radius is None else self.radius.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """Their direction."""
        radius = math.sqrt(normals.shape[0]) if self.radius is None else self.radius
        return radius * normals / jnp.linalg.norm(normals)

    def moments(self, d: int) -> VectorMoments:
        """Those of an elliptical law with lighter tails than a Gaussian's."""
        variance = 1.0 if self.radius is None else float(self.radius) ** 2 / d
        cov = variance * np.eye(d)
        return symmetric_moments(np.zeros(d), cov, elliptical_fourth(cov, d / (d + 2)))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """radius^2 / d I."""
        if self.radius is None:
            return jnp.eye(d)
        return self.radius**2 / d * jnp.eye(d, dtype=self.radius.dtype)
