"""The ridge family: posterior means that differ in what they take for the noise variance.

All shrink towards the prior mean in the prior's metric; for the papers' prior N(0, I) they are the plain
(X^T X + s I)^-1 X^T y. Where tasks are not Gaussian, they are made with the Gaussian of the same mean and covariance,
and are then the best estimators that are affine in the labels, not posterior means.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import _check
from .._predictor import AbstractLinearPredictor
from .._unknown import Unknown
from ..forms import NOISY, oracle_risk
from ..tasks import AbstractTask, GaussianPrior, Moments, Spectrum
from ..theory import Problem, noiseless_oracle_risk


def matching_prior(task: AbstractTask) -> GaussianPrior:
    """The Gaussian with the mean and covariance of a task's prior."""
    return GaussianPrior.matching(task.regression().prior, task.d)


def _believed(prior: GaussianPrior, task: AbstractTask) -> Problem:
    """The problem, in NumPy, that a task poses to somebody who believes in its prior; `Unknown` for others."""
    problem = Problem.of(task)
    theirs = task.regression().prior.gaussian(task.d)
    if not all(np.array_equal(*each) for each in zip((prior.mean, prior.cov), theirs, strict=True)):
        raise Unknown("the prior is not the task's, and then ridge regression is no posterior mean")
    return jax.tree.map(np.asarray, problem)


def noiseless_risk(prior: GaussianPrior, task: AbstractTask, *, is_posterior_mean: bool = True) -> float:
    """Without noise the whole ridge family is the posterior mean, if it believes in the task's prior."""
    problem = _believed(prior, task)
    if problem.noise2 > 0 or not is_posterior_mean:
        raise Unknown(NOISY)
    found = noiseless_oracle_risk(problem)
    if found is None:
        raise Unknown("without noise and with fewer tokens than directions, the posterior mean has no closed form here")
    return found


def posterior_risk(
    prior: GaussianPrior, task: AbstractTask, *, samples: int, entropy: Sequence[int]
) -> tuple[float, float]:
    """The risk of the posterior mean for a noise level that is the same in all prompts, and its standard error."""
    return oracle_risk(_believed(prior, task), samples=samples, entropy=entropy)


class OracleRidge(AbstractLinearPredictor):
    """Ridge with the prompt's true noise variance: the posterior mean of somebody who is told sigma.

    Equals scikit-learn's `Ridge(alpha=sigma**2, fit_intercept=False)` for the prior N(0, I). For Gaussian tasks with
    Gaussian label noise, no predictor that sees only the context has a smaller risk, and `adjusted` risks are measured
    from it. For others it is no posterior mean, and predictors that are not affine in the labels may do better.

    **Arguments:** `prior` is what it shrinks towards; `OracleRidge.of(task)` takes the task's. It needs moments that
    were sampled, with their hidden `sigma`.
    """

    prior: GaussianPrior

    @classmethod
    def of(cls, task: AbstractTask) -> "OracleRidge":
        """The estimator for a task: the Gaussian with the mean and covariance of its prior."""
        return cls(matching_prior(task))

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean given the context and its hidden noise level."""
        if moments.sigma is None:
            raise ValueError("moments.sigma is None; the oracle ridge needs sampled moments, which carry their sigma.")
        return Spectrum.of(self.prior.mean, self.prior.cov, moments).ridge(moments.sigma**2)

    def exact_risk(self, task: AbstractTask) -> float:
        """Known without noise."""
        return noiseless_risk(self.prior, task)

    def sampled_risk(self, task: AbstractTask, *, samples: int, entropy: Sequence[int]) -> tuple[float, float]:
        """By posterior covariances, for a noise level that is the same in all prompts."""
        return posterior_risk(self.prior, task, samples=samples, entropy=entropy)


class ConstRidge(AbstractLinearPredictor):
    """ConstRR: ridge with one noise variance for all prompts.

    With the mean of sigma^2 it is the best estimator that is affine in the labels (the linear Bayes rule), so it bounds
    everything GD++ can do.

    **Arguments:** `prior` is what it shrinks towards, `variance` is what it takes for sigma^2; `ConstRidge.best(task)`
    has both for a task.

    >>> from descant import Prompt
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> round(float(ConstRidge(GaussianPrior.isotropic(2), variance=1.0)(prompt)), 6)
    1.5
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
    def best(cls, task: AbstractTask) -> "ConstRidge":
        """The member of least risk: variance = E sigma^2."""
        regression = task.regression()
        return cls(matching_prior(task), regression.noise.moment(2) * regression.labels.moments().second)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean as if sigma^2 were `variance`."""
        return Spectrum.of(self.prior.mean, self.prior.cov, moments).ridge(self.variance)

    def exact_risk(self, task: AbstractTask) -> float:
        """Known without noise."""
        return noiseless_risk(self.prior, task, is_posterior_mean=float(self.variance) == 0)


def residual_variance(spectrum: Spectrum) -> Float[Array, ""]:
    """The unbiased estimate of the noise variance: least-squares residuals over their degrees of freedom."""
    return spectrum.residual / jnp.maximum(spectrum.freedom, 1.0)


def check_residuals(n: int, d: int) -> None:
    """Raise if a context can't have residuals."""
    if n <= d:
        raise ValueError(f"n is {n} and d is {d}; expected n > d, because the noise is estimated from residuals.")


class AdaRidge(AbstractLinearPredictor):
    """AdaRR: ridge with the noise variance estimated from the context, s2 = |y - Xw_ols|^2 / (n - d).

    Where the prior is rank deficient, the fit is the one over the tasks that the prior allows, and d is its rank.

    **Arguments:** `prior` is what it shrinks towards; `AdaRidge.of(task)` takes the task's. Contexts must have n > d.

    >>> from descant import Prompt
    >>> x, y = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), jnp.array([1.0, 2.0, 3.0])
    >>> round(float(AdaRidge(GaussianPrior.isotropic(2))(Prompt(x, y, x_query=jnp.ones(2)))), 6)
    3.0
    """

    prior: GaussianPrior

    @classmethod
    def of(cls, task: AbstractTask) -> "AdaRidge":
        """The estimator for a task, whose contexts must be longer than its dimension."""
        check_residuals(task.n, task.d)
        return cls(matching_prior(task))

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean as if sigma^2 were s2."""
        check_residuals(moments.n, moments.d)
        spectrum = Spectrum.of(self.prior.mean, self.prior.cov, moments)
        return spectrum.ridge(residual_variance(spectrum))

    def exact_risk(self, task: AbstractTask) -> float:
        """Known without noise."""
        return noiseless_risk(self.prior, task, is_posterior_mean=task.n > task.d)


class TunedRidge(AbstractLinearPredictor):
    """TunedRR: ridge with min(scale * s2, ceiling) for the noise variance, s2 as in `AdaRidge`.

    **Arguments:** `prior` is what it shrinks towards; `scale` and `ceiling` are numbers, none negative, which
    `tuned_ridge(task, key=...)` finds for a task. Contexts must have n > d.
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
        spectrum = Spectrum.of(self.prior.mean, self.prior.cov, moments)
        return spectrum.ridge(jnp.minimum(self.scale * residual_variance(spectrum), self.ceiling))

    def exact_risk(self, task: AbstractTask) -> float:
        """Known without noise."""
        return noiseless_risk(self.prior, task, is_posterior_mean=float(self.ceiling) == 0 and task.n > task.d)
