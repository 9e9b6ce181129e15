"""Heavy-tailed label noise."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .._student import check_df
from ._abstract import AbstractLabelNoise, LabelMoments


class StudentTLabelNoise(AbstractLabelNoise):
    """eta is Student-t of df > 2 degrees of freedom, scaled to variance 1; its fourth moment is finite for df > 4.

    >>> StudentTLabelNoise(6).moments().fourth
    6.0
    """

    df: float = eqx.field(static=True)

    def __init__(self, df: float):
        self.df = float(df)

    def __check_init__(self):
        check_df("labels.df", self.df, above=2)

    def sample(self, n: int, *, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw the noise of n labels."""
        return jax.random.t(key, self.df, (n,), float) * self._unit()

    def moments(self) -> LabelMoments:
        """1, 0 (unknown up to df = 3) and 3 (df - 2) / (df - 4)."""
        fourth = 3 * (self.df - 2) / (self.df - 4) if self.df > 4 else None
        return LabelMoments(1.0, 0.0 if self.df > 3 else None, fourth)

    def log_density(self, eta: Float[Array, " n"]) -> Float[Array, " n"]:
        """Of each label."""
        df, unit = self.df, self._unit()
        constant = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi) - math.log(unit)
        return constant - (df + 1) / 2 * jnp.log1p((eta / unit) ** 2 / df)

    def _unit(self) -> float:
        """What a Student-t number is multiplied by to have variance 1."""
        return math.sqrt((self.df - 2) / self.df)
