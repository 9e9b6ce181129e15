"""Laplace tasks."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._random import normals
from .._law import AbstractPrior, VectorMoments, independent_moments
from .._quantiles import laplace_quantile


class LaplacePrior(AbstractPrior):
    """Independent coordinates with the density exp(-|w_j - mean| / scale) / (2 scale); their variance is 2 scale^2.

    `mean` is one number for all coordinates, or d of them; `scale` is the same in all coordinates, of any d. Its
    posterior mean is `estimators.MonteCarloBayes`, without a closed form.

    >>> LaplacePrior(scale=0.5).moments(2).cov
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    mean: Float[Array, ""] | Float[Array, " d"]
    scale: Float[Array, ""]

    def __init__(self, mean: ArrayLike = 0.0, scale: ArrayLike = 1.0):
        self.mean = jnp.asarray(mean, dtype=float)
        self.scale = jnp.asarray(scale, dtype=float)

    def __check_init__(self):
        _check.shape("prior.scale", self.scale, (), "it is one number for all coordinates")
        _check.positive("prior.scale", self.scale)
        _check.location("prior.mean", self.mean)

    def check(self, d: int) -> None:
        """A mean of several numbers must have d of them."""
        _check.location("prior.mean", self.mean, d)

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a task vector."""
        return self.place(normals(key, d, self.mean.dtype))

    def numbers(self, d: int) -> int:
        """One per coordinate."""
        return d

    def place(self, normals: Float[Array, " d"]) -> Float[Array, " d"]:
        """Their quantiles."""
        return self.mean + self.scale * laplace_quantile(normals)

    def moments(self, d: int) -> VectorMoments:
        """Those of d independent numbers: 2 scale^2, 0 and 24 scale^4 about the mean."""
        mean, scale = np.asarray(self.mean), float(self.scale)
        return independent_moments(*(np.full(d, each) for each in (mean, 2 * scale**2, 0.0, 24 * scale**4)))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Covariance, and mean mean^T."""
        mean = jnp.broadcast_to(self.mean, d)
        return 2 * self.scale**2 * jnp.eye(d, dtype=self.scale.dtype) + jnp.outer(mean, mean)

    def log_density(self, w: Float[Array, " d"]) -> Float[Array, ""]:
        """A sum over the coordinates."""
        return -jnp.sum(jnp.abs(w - self.mean) / self.scale + jnp.log(2 * self.scale))
