"""The problem that a task poses, as JAX may trace it."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check
from .._unknown import Unknown
from ..forms import AbstractProblem
from ..tasks import AbstractTask


class Problem(eqx.Module, AbstractProblem):
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
