"""The optimum."""

from collections.abc import Sequence

from jaxtyping import Array, Float, PRNGKeyArray

from .._predictor import AbstractLinearPredictor
from .._reason import reason_against
from .._unknown import Unknown
from ..tasks import AbstractTask, GaussianPrior, Moments, Posterior
from ._ridge import noiseless_risk, posterior_risk


class Bayes(AbstractLinearPredictor):
    """The posterior mean of a task: no predictor that sees only the context has a smaller risk.

    For a known noise level it is `OracleRidge`; for an unknown one it weighs the ridge solutions of all noise levels by
    their posterior probability. Make it with `Bayes.of(task)`, which refuses a task that doesn't know its posterior;
    then there is `MonteCarloBayes`.

    >>> import equinox as eqx
    >>> import jax.numpy as jnp
    >>> from descant import LinearRegression, Prompt
    >>> prompt = Prompt(x=jnp.eye(2), y=jnp.array([1.0, 2.0]), x_query=jnp.ones(2))
    >>> bayes = Bayes.of(LinearRegression(d=2, n=2, noise=1.0))
    >>> round(float(eqx.filter_jit(bayes)(prompt)), 6)
    1.5
    """

    task: AbstractTask

    @classmethod
    def of(cls, task: AbstractTask) -> "Bayes":
        """The posterior mean of a task that knows it from a context's moments; `Unknown` says why if it doesn't."""
        reason = reason_against(_posterior, task)
        if reason:
            raise Unknown(reason)
        return cls(task)

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean."""
        return self.task.posterior(moments).mean

    def exact_risk(self, task: AbstractTask) -> float:
        """Known without noise, if the task is the one that it believes in."""
        believed = self.task.regression()
        return noiseless_risk(self._prior(), task, is_posterior_mean=float(believed.noise.moment(2)) == 0)

    def sampled_risk(self, task: AbstractTask, *, samples: int, entropy: Sequence[int]) -> tuple[float, float]:
        """By posterior covariances, if it believes in the task and all prompts have the same noise level."""
        believed, true = self.task.regression().noise, task.regression().noise
        # Two moments tell a level that is the same in all prompts: its square has no variance.
        if any(float(believed.moment(power)) != float(true.moment(power)) for power in (2, 4)):
            raise Unknown("the posterior mean of another law of noise levels is no posterior mean here")
        return posterior_risk(self._prior(), task, samples=samples, entropy=entropy)

    def _prior(self) -> GaussianPrior:
        """What it believes of tasks, if that is a Gaussian."""
        believed = self.task.regression()
        return GaussianPrior(*believed.prior.gaussian(believed.d))


def _posterior(task: AbstractTask, key: PRNGKeyArray) -> Posterior:
    return task.posterior(task.sample_moments(key=key))
