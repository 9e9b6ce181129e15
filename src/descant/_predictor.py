"""What a predictor is: the one interface that estimators and attention layers share."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from ._final import AbstractOpen
from ._unknown import Unknown
from .tasks import Moments, Prompt

if TYPE_CHECKING:
    from .tasks import AbstractTask


class Merged(NamedTuple):
    """One layer of linear attention with all its heads merged: weights that are affine in the Gram matrix.

    The prediction is `<w, x_query>` with w_l = offset_l + `<tensor_l, G / n>`. Where the query attends (`query_masked`
    is False), G also holds the query's own token (x_query, 0).
    """

    offset: Float[Array | np.ndarray, " d"]
    tensor: Float[Array | np.ndarray, "d e e"]
    query_masked: bool = True


class AbstractPredictor(AbstractOpen):
    """Anything that answers a prompt with one number, its guess of the query's label.

    A subclass must have `__call__`; that is enough to be trained and measured on tokens. What else it knows of itself
    makes more possible, and is asked of it:

    | method | what it makes possible | left out |
    |---|---|---|
    | `linear`, `weights` | measuring and training in moment space, at a cost that doesn't grow with n | not linear |
    | `gram_affine` | exact risks, training on the whole risk at once | no merged form |
    | `exact_risk` | an exact risk that has nothing to do with a merged form | no closed form |
    | `sampled_risk` | an estimate of its own, asked for before contexts are drawn | contexts are drawn |
    | `scaled` | use at another context length than it was trained at, see `attention.rescaled` | no plain sums |
    """

    @abstractmethod
    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict the query's label."""

    @property
    def linear(self) -> bool:
        """Whether the prediction is `<weights(moments), x_query>`, the context seen through its moments."""
        return False

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector that the context leads to."""
        raise Unknown(f"{type(self).__name__} is not linear in the query")

    def gram_affine(self, d: int, n: int) -> Merged:
        """The same function of contexts of n examples in R^d as an affine function of the Gram matrix."""
        raise Unknown(f"{type(self).__name__} is no affine function of the Gram matrix")

    def exact_risk(self, task: "AbstractTask") -> float:
        """The risk on a task in closed form; asked only of predictors without a merged form."""
        raise Unknown(f"{type(self).__name__} has no closed form")

    def sampled_risk(self, task: "AbstractTask", *, samples: int, entropy: Sequence[int]) -> tuple[float, float]:
        """The risk and its standard error by draws of its own; only the oracle of a task, whom none is below, has one.

        **Arguments:** `samples` contexts are drawn, with `entropy` for a seed.
        """
        raise Unknown(f"{type(self).__name__} has no draws of its own")

    def scaled(self, factor: float) -> "AbstractPredictor":
        """One that sees every sum over the context `factor` times as large."""
        raise Unknown(f"{type(self).__name__} is not known to read its context through plain sums")


class AbstractLinearPredictor(AbstractPredictor):
    """A predictor that is linear in the query and sees the context only through its moments.

    It is then the weight vector `weights(moments)`, and is measured and trained in moment space, at a cost that doesn't
    depend on the context length.
    """

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        if "__call__" in cls.__dict__ or "linear" in cls.__dict__:
            raise TypeError(
                f"{cls.__name__} has a __call__ or linear of its own beside weights, and the two could differ; "
                "subclass AbstractPredictor, and give both there."
            )

    @property
    def linear(self) -> bool:
        """Always."""
        return True

    @abstractmethod
    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """The weight vector that the context leads to."""

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Predict `<weights, x_query>`."""
        return self.weights(prompt.moments()) @ prompt.x_query
