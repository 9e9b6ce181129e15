"""The optimum."""

from jaxtyping import Array, Float

from .._predictor import AbstractLinearPredictor
from ..tasks import LinearRegression, Moments


class Bayes(AbstractLinearPredictor):
    """The posterior mean of a task: no predictor that sees only the context has a smaller risk.

    For a known noise level it is `OracleRidge`; for an unknown one it weighs the ridge solutions of all noise levels by
    their posterior probability.
    """

    task: LinearRegression

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The posterior mean."""
        return self.task.posterior(moments).mean
