"""Heavy-tailed inputs."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..._random import normals
from .._law import AbstractInputs, VectorMoments, elliptical_fourth, symmetric_moments
from .._student import check_df, drawn_scale, placed_scale, scale_numbers


class StudentTInputs(AbstractInputs):
    """x is multivariate Student-t of df > 2 degrees of freedom, scaled to the covariance I.

    The fourth moment, on which every exact risk depends, is finite for df > 4. For another covariance, see
    `MappedInputs`.

    >>> StudentTInputs(4).moments(2).fourth is None
    True
    """

    df: float = eqx.field(static=True)

    def __init__(self, df: float):
        self.df = float(df)

    def __check_init__(self):
        check_df("inputs.df", self.df, above=2)

    def check(self, d: int) -> None:
        """Any d will do."""
        del d

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a scale, and an input of that scale."""
        scale, key = drawn_scale(self.df, jnp.result_type(float), key=key)
        return jnp.sqrt(self._unit() * scale) * normals(key, d, float)

    def numbers(self, d: int) -> int | None:
        """One per coordinate, and df of them for the scale, if df is a whole number."""
        scale = scale_numbers(self.df)
        return None if scale is None else d + scale

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """The last df numbers make the scale."""
        d = normals.shape[0] - int(self.df)
        return jnp.sqrt(self._unit() * placed_scale(self.df, normals[d:])) * normals[:d]

    def moments(self, d: int) -> VectorMoments:
        """Those of an elliptical law; up to df = 4 without the fourth."""
        cov = np.eye(d)
        fourth = elliptical_fourth(cov, (self.df - 2) / (self.df - 4)) if self.df > 4 else None
        return symmetric_moments(np.zeros(d), cov, fourth)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """I."""
        return jnp.eye(d)

    def _unit(self) -> float:
        """What the squared length is multiplied by to have the covariance I."""
        return (self.df - 2) / self.df
