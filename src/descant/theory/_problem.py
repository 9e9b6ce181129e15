"""The numbers that the closed forms speak of."""

from typing import NamedTuple, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _check
from .._linalg import psd_root
from .._unknown import Unknown
from ..tasks import AbstractTask

# Minimisers run the closed forms in NumPy, and risks are differentiated in JAX.
Arrays = TypeVar("Arrays", Array, np.ndarray)
Scalar = float | Float[Array | np.ndarray, ""]


class Problem(eqx.Module):
    """Regression with Gaussian inputs, reduced to what risks of Gram-affine predictors depend on.

    | field | symbol | meaning |
    |---|---|---|
    | `mean`, `cov` | mu, Psi | prior w ~ N(mu, Psi), (d,) and (d, d) |
    | `inputs` | Lambda | inputs x ~ N(0, Lambda), (d, d) |
    | `n` | n | context length |
    | `noise2`, `noise4` | E sigma^2, E sigma^4 | of the noise level; sigma^2 and sigma^4 if it is fixed |

    The risks here are polynomials of degree four in the noise, so a law of noise levels enters through two moments
    only: every formula holds for noise mixtures too. Make one of a task with `Problem.of`, or from the numbers, with
    either the fixed noise level `sigma` or both moments:

    >>> from descant import LinearRegression
    >>> Problem.of(LinearRegression(d=3, n=8, noise=0.5)).noise2
    Array(0.25, dtype=float64)
    >>> Problem(jnp.ones(3), jnp.eye(3), jnp.eye(3), 8, sigma=0.5).d
    3
    """

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]
    inputs: Float[Array, "d d"]
    n: int = eqx.field(static=True)
    noise2: Float[Array, ""]
    noise4: Float[Array, ""]

    def __init__(self, mean, cov, inputs, n: int, *, sigma=None, noise2=None, noise4=None):
        """Give either the fixed noise level `sigma`, or both moments `noise2` and `noise4`."""
        if (sigma is None) == (noise2 is None) or (noise2 is None) != (noise4 is None):
            raise ValueError("noise is given twice or in part; expected either sigma, or both noise2 and noise4.")
        self.mean = jnp.asarray(mean, dtype=float)
        self.cov = jnp.asarray(cov, dtype=float)
        self.inputs = jnp.asarray(inputs, dtype=float)
        self.n = n
        if sigma is not None:
            _check.not_negative("sigma", sigma)
            noise2, noise4 = sigma**2, sigma**4
        self.noise2 = jnp.asarray(noise2, dtype=float)
        self.noise4 = jnp.asarray(noise4, dtype=float)

    def __check_init__(self):
        _check.size("n", self.n)
        _check.covariance("cov", self.cov)
        _check.covariance("inputs", self.inputs)
        _check.shape("inputs", self.inputs, self.cov.shape, f"cov has shape {self.cov.shape}")
        _check.shape("mean", self.mean, self.cov.shape[:1], f"cov has shape {self.cov.shape}")
        _check.finite("mean", self.mean)
        _check.not_negative("noise2", self.noise2)
        _check.not_negative("noise4", self.noise4)

    @classmethod
    def of(cls, task: AbstractTask) -> "Problem":
        """The problem that a linear regression poses whose tasks, inputs and label noise are Gaussian.

        `Unknown` says what is not Gaussian, or that the task is no linear regression.
        """
        regression = task.regression()
        if not regression.labels.gaussian:
            raise Unknown(f"{type(regression.labels).__name__} is not Gaussian")
        mean, cov = regression.prior.gaussian(task.d)
        inputs = regression.inputs.centred_gaussian(task.d)
        moments = {"noise2": regression.noise.moment(2), "noise4": regression.noise.moment(4)}
        return cls(mean, cov, inputs, regression.n, **moments)

    @property
    def d(self) -> int:
        """Input dimension."""
        return self.mean.shape[0]

    @property
    def root(self) -> Float[Array, "d d"]:
        """Lambda^(1/2)."""
        return psd_root(self.inputs)

    @property
    def signal(self) -> Float[Array, ""]:
        """tr(Lambda Psi): how much of the label's variance the unknown part of the task makes."""
        return jnp.trace(self.inputs @ self.cov)

    def size(self, vector: Float[Array, " d"]) -> Float[Array, ""]:
        """|vector|^2 in the Lambda norm."""
        return vector @ self.inputs @ vector


def whitening(inputs: Float[np.ndarray, "d d"]) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "d k"]]:
    """The maps of inputs to whitened ones (z = forth x) and of weight vectors back (w = back w_z = forth^T w_z).

    Directions without inputs are dropped: k is the rank of the second moment.
    """
    values, vectors = np.linalg.eigh(inputs)
    # The rule of `_linalg.rank_tolerance`: estimators and theory must agree on what is rounding.
    kept = values > values.max(initial=0.0) * values.size * np.finfo(float).eps
    forth = (vectors[:, kept] / np.sqrt(values[kept])).T
    return forth, forth.T


class Whitened(NamedTuple):
    """The same problem in coordinates z with x = root z, z ~ N(0, I_k), where k is the rank of Lambda.

    Risks are the same there; `back` takes weight vectors home (w = back w_z), `forth` takes inputs there (z = forth x).
    Plain NumPy: ranks and minimisations are not traced.
    """

    mean: Float[np.ndarray, " k"]
    cov: Float[np.ndarray, "k k"]
    n: int
    noise2: float
    noise4: float
    forth: Float[np.ndarray, "k d"]

    @classmethod
    def of(cls, problem: Problem) -> "Whitened":
        """Drop the directions without inputs and scale the others to unit variance."""
        forth, _ = whitening(np.asarray(problem.inputs))
        root = np.linalg.pinv(forth)
        return cls(
            mean=root.T @ np.asarray(problem.mean),
            cov=root.T @ np.asarray(problem.cov) @ root,
            n=problem.n,
            noise2=float(problem.noise2),
            noise4=float(problem.noise4),
            forth=forth,
        )

    @property
    def k(self) -> int:
        """How many directions have inputs."""
        return self.mean.shape[0]

    @property
    def back(self) -> Float[np.ndarray, "d k"]:
        """Takes weight vectors of whitened coordinates to the original ones."""
        return self.forth.T

    def label_size(self) -> float:
        """Root mean square of a label."""
        return float(np.sqrt(np.trace(self.cov) + self.mean @ self.mean + self.noise2))

    def in_units(self, unit: float) -> "Whitened":
        """The same problem with labels divided by `unit`."""
        return self._replace(
            mean=self.mean / unit,
            cov=self.cov / unit**2,
            noise2=self.noise2 / unit**2,
            noise4=self.noise4 / unit**4,
        )

    @property
    def from_tokens(self) -> Float[np.ndarray, "s e"]:
        """The matrix that takes a token (x, y) to (z, y - `<mu, x>`)."""
        bottom = np.append(-self.mean @ self.forth, 1.0)
        return np.vstack([np.pad(self.forth, ((0, 0), (0, 1))), bottom])
