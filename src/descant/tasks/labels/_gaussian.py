"""Gaussian label noise."""

import math

from jaxtyping import Array, Float, PRNGKeyArray

from ..._random import normals
from ._abstract import AbstractLabelNoise, LabelMoments


class GaussianLabelNoise(AbstractLabelNoise):
    """eta ~ N(0, 1): what a task has unless told otherwise, and the papers throughout."""

    def sample(self, n: int, *, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Standard normal numbers."""
        return normals(key, n, float)

    @property
    def placed(self) -> bool:
        """Yes."""
        return True

    def place(self, normals: Float[Array, " n"]) -> Float[Array, " n"]:
        """The numbers themselves."""
        return normals

    @property
    def gaussian(self) -> bool:
        """Yes."""
        return True

    def moments(self) -> LabelMoments:
        """1, 0, 3."""
        return LabelMoments(1.0, 0.0, 3.0)

    def log_density(self, eta: Float[Array, " n"]) -> Float[Array, " n"]:
        """-eta^2 / 2, and a constant."""
        return -0.5 * eta**2 - 0.5 * math.log(2 * math.pi)
