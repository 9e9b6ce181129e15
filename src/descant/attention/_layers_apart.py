"""A network of diagonal layers, each with an array of its own: the form that derivatives are taken by."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._predictor import AbstractLinearPredictor
from ..tasks import Moments
from ._congruence import congruence
from ._diagonal import AbstractDiagonal, spread
from ._linear_transformer import UNROLLED_DEPTH


class LayersApart(AbstractLinearPredictor):
    """The same function as the network that it is made of, with one (2, 2) array of omegas per layer.

    In a stack all layers share one array, so that a derivative by any of them is carried through all. Here a derivative
    by one layer passes through those behind it alone: half of the work.
    """

    omegas: tuple[Float[Array, "2 2"], ...]

    def weights(self, moments: Moments) -> Float[Array, " d"]:
        """As `AbstractLinearTransformer.weights`, written out; of the last Gram matrix only the row that is read."""
        gram = moments.gram
        identity = jnp.eye(moments.d + 1, dtype=gram.dtype)
        steps, label = [], gram[-1]
        for index, omegas in enumerate(self.omegas[:-1]):
            steps.append(identity + spread(omegas, moments.d + 1) * gram)
            if index < len(self.omegas) - 2:
                gram = congruence(steps[-1], gram)
                label = gram[-1]
            else:
                label = steps[-1] @ (gram @ steps[-1][-1])
        row = identity[-1] + spread(self.omegas[-1], moments.d + 1)[-1] * label
        for step in reversed(steps):
            row = row @ step
        return -row[:-1]


def layers_apart(model: AbstractDiagonal) -> LayersApart | AbstractDiagonal:
    """A diagonal network with its layers apart; tied and very deep ones stay what they are."""
    if model.depth is not None or model.layers > UNROLLED_DEPTH:
        return model
    return LayersApart(tuple(model.omegas()))
