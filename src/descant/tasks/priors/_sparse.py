"""Sparse tasks: spike and slab."""

import itertools

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._random import normals
from ..._unknown import Unknown
from .._law import AbstractPrior, GaussianMixture, VectorMoments, independent_moments

# The posterior is a sum over all 2^d supports.
LARGEST_D = 10


class SparsePrior(AbstractPrior):
    """Independent coordinates that are 0, but with `probability` N(mean, scale^2): spike and slab.

    `mean` is one number for all coordinates, or d of them; `probability` and `scale` are the same in all, of any d. The
    posterior is a sum over all supports, and known up to d = 10.

    >>> SparsePrior(0.5).moments(2).cov
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    probability: Float[Array, ""]
    mean: Float[Array, ""] | Float[Array, " d"]
    scale: Float[Array, ""]

    def __init__(self, probability: ArrayLike, mean: ArrayLike = 0.0, scale: ArrayLike = 1.0):
        self.probability = jnp.asarray(probability, dtype=float)
        self.mean = jnp.asarray(mean, dtype=float)
        self.scale = jnp.asarray(scale, dtype=float)

    def __check_init__(self):
        _check.location("prior.mean", self.mean)
        for name in ("probability", "scale"):
            _check.shape(f"prior.{name}", getattr(self, name), (), "it is one number for all coordinates")
            _check.finite(f"prior.{name}", getattr(self, name))
        _check.not_negative("prior.scale", self.scale)
        probability = _check.concrete(self.probability)
        if probability is not None and not 0 <= probability <= 1:
            raise ValueError(f"prior.probability is {probability}; expected a number from 0 to 1.")

    def check(self, d: int) -> None:
        """A mean of several numbers must have d of them."""
        _check.location("prior.mean", self.mean, d)

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a support, and the coordinates on it."""
        return self.place(normals(key, 2 * d, self.mean.dtype))

    def numbers(self, d: int) -> int:
        """Two per coordinate: whether it is 0, and what it is if not."""
        return 2 * d

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """0 where the first half's quantiles are above the probability."""
        switch, slab = jnp.split(normals, 2)
        return jnp.where(ndtr(switch) < self.probability, self.mean + self.scale * slab, 0.0)

    def moments(self, d: int) -> VectorMoments:
        """Those of d independent numbers."""
        p, m, s = float(self.probability), np.asarray(self.mean), float(self.scale)
        # E v^k of a coordinate: p times that of the slab.
        first, second, third, fourth = (
            p * raw for raw in (m, m**2 + s**2, m**3 + 3 * m * s**2, m**4 + 6 * m**2 * s**2 + 3 * s**4)
        )
        variance = second - first**2
        central_third = third - 3 * first * second + 2 * first**3
        central_fourth = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        return independent_moments(*(np.full(d, each) for each in (first, variance, central_third, central_fourth)))

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Covariance, and mean mean^T, of coordinates whose mean is probability times that of the slab."""
        mean = jnp.broadcast_to(self.mean, d)
        first, second = self.probability * mean, self.probability * (mean**2 + self.scale**2)
        return jnp.outer(first, first) + jnp.diag(second - first**2)

    def components(self, d: int) -> GaussianMixture:
        """A Gaussian on each of the 2^d supports."""
        if d > LARGEST_D:
            raise Unknown(
                f"the posterior of a SparsePrior is a sum over all 2^d supports, which is done for d up to "
                f"{LARGEST_D}; here d is {d}"
            )
        supports = jnp.asarray(list(itertools.product((0.0, 1.0), repeat=d)), self.mean.dtype)
        sizes = jnp.sum(supports, axis=1)
        # 0 log 0 is 0: with probability 0 or 1 a single support remains.
        inside = jnp.where(sizes > 0, sizes * jnp.log(self.probability), 0.0)
        outside = jnp.where(sizes < d, (d - sizes) * jnp.log1p(-self.probability), 0.0)
        covs = self.scale**2 * supports[:, :, None] * jnp.eye(d, dtype=supports.dtype)[None]
        return GaussianMixture(inside + outside, jnp.broadcast_to(self.mean, d)[None] * supports, covs)
