"""Heavy-tailed tasks."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from ..._linalg import psd_root
from ..._random import normals
from ..._unknown import Unknown
from .._law import AbstractPrior, GaussianMixture, VectorMoments, elliptical_fourth, symmetric_moments
from .._student import check_df, drawn_scale, log_student_t, placed_scale, scale_numbers

# The share of tasks whose scale lies beyond the nodes, and what the rule errs by between them.
TAIL = 1e-10
PRECISION = 1e-10


class StudentTPrior(AbstractPrior):
    """w = mean + sqrt(s) v with v ~ N(0, scale) and s inverse-gamma of shape and scale df/2: multivariate Student-t.

    **Arguments:** `mean` (d,) and `scale` (d, d), which may be rank deficient; the covariance is df / (df - 2) times
    it, and infinite up to df = 2. `df` is a number, not an array: what is known of the law depends on it.

    **Posteriors** are sums over s by the trapezoidal rule in log s, which converges exponentially: posterior means are
    right to about 1e-8, on all contexts but those whose s is beyond the nodes (a share of 1e-10 of the law's own),
    where they shrink too much.

    >>> StudentTPrior.isotropic(2, df=4.0).moments(2).cov
    array([[2., 0.],
           [0., 2.]])
    """

    mean: Float[Array, " d"]
    scale: Float[Array, "d d"]
    df: float = eqx.field(static=True)

    def __init__(self, mean, scale, df: float):
        self.mean = jnp.asarray(mean, dtype=float)
        self.scale = jnp.asarray(scale, dtype=float)
        self.df = float(df)

    def __check_init__(self):
        check_df("prior.df", self.df)
        _check.covariance("prior.scale", self.scale)
        _check.shape("prior.mean", self.mean, self.scale.shape[:1], f"prior.scale has shape {self.scale.shape}")
        _check.finite("prior.mean", self.mean)

    @classmethod
    def isotropic(cls, d: int, df: float, mean: ArrayLike = 0.0, scale: float = 1.0) -> "StudentTPrior":
        """The prior with `mean` (in every coordinate, or d numbers) and the scale matrix scale^2 I."""
        _check.size("d", d)
        _check.location("prior mean", mean, d)
        _check.not_negative("prior scale", scale)
        _check.magnitude("prior scale", scale)
        return cls(jnp.full(d, mean, dtype=float), scale**2 * jnp.eye(d), df)

    def check(self, d: int) -> None:
        """The mean must have d entries."""
        _check.shape("prior.mean", self.mean, (d,), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw a scale, and a task vector of that scale."""
        scale, key = drawn_scale(self.df, self.mean.dtype, key=key)
        return self.mean + jnp.sqrt(scale) * (psd_root(self.scale) @ normals(key, d, self.mean.dtype))

    def numbers(self, d: int) -> int | None:
        """One per coordinate, and df of them for the scale, if df is a whole number."""
        scale = scale_numbers(self.df)
        return None if scale is None else d + scale

    def place(self, normals: Float[Array, " numbers"]) -> Float[Array, " d"]:
        """The last df numbers make the scale."""
        d = self.mean.shape[0]
        return self.mean + jnp.sqrt(placed_scale(self.df, normals[d:])) * (psd_root(self.scale) @ normals[:d])

    def moments(self, d: int) -> VectorMoments:
        """Those of an elliptical law; up to df = 4 without the fourth, up to df = 2 none."""
        del d
        if self.df <= 2:
            raise Unknown(f"a StudentTPrior of {self.df:g} degrees of freedom has no covariance")
        cov = np.asarray(self.scale) * (self.df / (self.df - 2))
        fourth = elliptical_fourth(cov, (self.df - 2) / (self.df - 4)) if self.df > 4 else None
        return symmetric_moments(np.asarray(self.mean), cov, fourth)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """Covariance, and mean mean^T."""
        if self.df <= 2:
            self.moments(d)
        return self.df / (self.df - 2) * self.scale + jnp.outer(self.mean, self.mean)

    def components(self, d: int) -> GaussianMixture:
        """N(mean, s scale) for nodes s."""
        log_s, log_weights = _scale_nodes(self.df, d)
        dtype = self.mean.dtype
        scales = jnp.asarray(np.exp(log_s), dtype)[:, None, None] * self.scale[None]
        means = jnp.broadcast_to(self.mean[None], (log_s.size, d))
        return GaussianMixture(jnp.asarray(log_weights, dtype), means, scales)

    def log_density(self, w: Float[Array, " d"]) -> Float[Array, ""]:
        """For a scale matrix of full rank."""
        return log_student_t(w - self.mean, self.scale, self.df)


def _scale_nodes(df: float, d: int) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Nodes in log s and their log weights, fine and wide enough for the posterior of s given any context in R^d.

    A context changes the density exp(-a t - b e^-t) of t = log s, a = b = df/2, at most as knowing w does: to
    a = (df + d)/2 and some larger b. The trapezoidal rule with the step h then errs by
    2 |Gamma(a + 2 pi i / h)| / Gamma(a).
    """
    half, most = df / 2, (df + d) / 2
    # 1/s is gamma distributed: on the left as if all that is known were that w is 0, on the right as in the prior.
    low = -math.log(float(scipy.special.gammainccinv(most, TAIL * PRECISION)) / half)
    high = -math.log(scipy.special.gammaincinv(half, TAIL) / half)
    frequencies = np.linspace(1.0, 200.0, 2000)
    loggamma = scipy.special.loggamma
    errors = np.log(2) + np.real(loggamma(most + 1j * frequencies)) - np.real(loggamma(most))
    step = 2 * np.pi / frequencies[np.argmax(errors < math.log(PRECISION))]
    nodes = np.linspace(low, high, math.ceil((high - low) / step) + 1)
    logs = half * math.log(half) - float(np.real(loggamma(half))) - half * nodes - half * np.exp(-nodes)
    return nodes, logs + math.log(nodes[1] - nodes[0])
