"""What a predictor is: the one interface that estimators and attention layers share."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Array, Float
from typing_extensions import TypeIs

from .tasks import Moments, Prompt


class AbstractPredictor(eqx.Module):
    """Anything that answers a prompt with one number, its guess of `<w, x_query>`."""

    @abstractmethod
    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict the query's label."""


class AbstractLinearPredictor(AbstractPredictor):
    """A predictor that is linear in the query and sees the context only through its moments.

    It is then the weight vector `weights(moments)`, and is measured and trained in moment space, at a cost that doesn't
    depend on the context length.
    """

    @property
    def linear(self) -> bool:
        """Whether `weights` exists; a layer with switches (an attending query, a constant guess) may not have it."""
        return True

    @abstractmethod
    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector that the context leads to."""

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict `<weights, x_query>`."""
        return self.weights(prompt.moments()) @ prompt.x_query


def in_moment_space(predictor: AbstractPredictor) -> TypeIs[AbstractLinearPredictor]:
    """Whether a predictor is linear in the query, so that moments are all it needs."""
    return isinstance(predictor, AbstractLinearPredictor) and predictor.linear
