"""The optimum."""

from jaxtyping import Array, Float, PRNGKeyArray

from .._predictor import AbstractLinearPredictor
from .._reason import reason_against
from .._unknown import Unknown
from ..tasks import AbstractTask, GaussianPrior, Moments, Posterior
from ._ridge import noiseless_risk


class Bayes(AbstractLinearPredictor):
    """The posterior mean of a task: no predictor that sees only the context has a smaller risk.

    For a known noise level it is `OracleRidge`; for an unknown one it weighs the ridge solutions of all noise levels by
    their posterior probability.
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
        prior = GaussianPrior(*believed.prior.gaussian(believed.d))
        return noiseless_risk(prior, task, is_posterior_mean=float(believed.noise.moment(2)) == 0)


def _posterior(task: AbstractTask, key: PRNGKeyArray) -> Posterior:
    return task.posterior(task.sample_moments(key=key))
