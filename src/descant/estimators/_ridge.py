"""The ridge family: posterior means that differ in what they take for the noise variance.

All shrink towards the prior mean in the prior's metric; for the papers' prior N(0, I) they are the plain
(X^T X + s I)^-1 X^T y.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check
from .._predictor import AbstractLinearPredictor
from ..tasks import GaussianPrior, LinearRegression, Moments, Spectrum


class OracleRidge(AbstractLinearPredictor):
    """Ridge with the prompt's true noise variance: the posterior mean of somebody who is told sigma.

    Equals scikit-learn's `Ridge(alpha=sigma**2, fit_intercept=False)` for the prior N(0, I). No predictor that sees only
    the context has a smaller risk; `adjusted` risks are measured from it.
    """

    prior: GaussianPrior

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean given the context and its hidden noise level."""
        if moments.sigma is None:
            raise ValueError("moments.sigma is None; the oracle ridge needs sampled moments, which carry their sigma.")
        return Spectrum.of(self.prior, moments).ridge(moments.sigma**2)


class ConstRidge(AbstractLinearPredictor):
    """ConstRR: ridge with one noise variance for all prompts.

    With the mean of sigma^2 it is the best estimator that is affine in the labels (the linear Bayes rule), so it bounds
    everything GD++ can do.
    """

    prior: GaussianPrior
    variance: Float[Array, ""]

    def __init__(self, prior: GaussianPrior, variance):
        self.prior = prior
        self.variance = jnp.asarray(variance, dtype=float)

    def __check_init__(self):
        _check.shape("variance", self.variance, (), "it is one number for all prompts")
        _check.not_negative("variance", self.variance)

    @classmethod
    def best(cls, task: LinearRegression) -> "ConstRidge":
        """The member of least risk: variance = E sigma^2."""
        return cls(task.prior, task.noise.moment(2))

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean as if sigma^2 were `variance`."""
        return Spectrum.of(self.prior, moments).ridge(self.variance)


def residual_variance(spectrum: Spectrum) -> Float[Array, ""]:
    """The unbiased estimate of the noise variance: least-squares residuals over their degrees of freedom."""
    return spectrum.residual / jnp.maximum(spectrum.freedom, 1.0)


def check_residuals(n: int, d: int) -> None:
    """Raise if a context can't have residuals."""
    if n <= d:
        raise ValueError(f"n is {n} and d is {d}; expected n > d, because the noise is estimated from residuals.")


class AdaRidge(AbstractLinearPredictor):
    """AdaRR: ridge with the noise variance estimated from the context, s2 = |y - X w_ols|^2 / (n - d).

    Where the prior is rank deficient, the fit is the one over the tasks that the prior allows, and d is its rank.
    """

    prior: GaussianPrior

    @classmethod
    def of(cls, task: LinearRegression) -> "AdaRidge":
        """The estimator for a task, whose contexts must be longer than its dimension."""
        check_residuals(task.n, task.d)
        return cls(task.prior)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean as if sigma^2 were s2."""
        check_residuals(moments.n, moments.d)
        spectrum = Spectrum.of(self.prior, moments)
        return spectrum.ridge(residual_variance(spectrum))


class TunedRidge(AbstractLinearPredictor):
    """TunedRR: ridge with min(scale * s2, ceiling) for the noise variance, s2 as in `AdaRidge`.

    `tuned_ridge(task, key=...)` finds the two constants for a task.
    """

    prior: GaussianPrior
    scale: Float[Array, ""]
    ceiling: Float[Array, ""]

    def __init__(self, prior: GaussianPrior, scale, ceiling):
        self.prior = prior
        self.scale = jnp.asarray(scale, dtype=float)
        self.ceiling = jnp.asarray(ceiling, dtype=float)

    def __check_init__(self):
        for name, value in (("scale", self.scale), ("ceiling", self.ceiling)):
            _check.shape(name, value, (), "it is one number for all prompts")
            _check.not_negative(name, value)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean as if sigma^2 were min(scale * s2, ceiling)."""
        check_residuals(moments.n, moments.d)
        spectrum = Spectrum.of(self.prior, moments)
        return spectrum.ridge(jnp.minimum(self.scale * residual_variance(spectrum), self.ceiling))
