"""What every law of the noise level has."""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..._arrays import Number
from ..._final import AbstractOpen
from ..._unknown import Unknown

# The logarithm of the likelihood of a context, at m noise levels.
LogLikelihood = Callable[[Float[Array, " m"]], Float[Array, " m"]]


class NoiseNodes(NamedTuple):
    """Noise levels with the logarithms of their prior weights; `log_check` weighs a coarser rule on the same nodes.

    The two rules together give an error estimate; for a discrete law they are the same and the error is 0. A node that
    the coarser rule leaves out has log weight -inf there.
    """

    sigmas: Float[Array, " m"]
    log_weights: Float[Array, " m"]
    log_check: Float[Array, " m"]


def one_level(sigma: Float[Array, ""]) -> NoiseNodes:
    """A level that is known, as nodes: a single one, with all the weight."""
    certain = jnp.zeros(1, sigma.dtype)
    return NoiseNodes(sigma[None], certain, certain)


class AbstractNoise(AbstractOpen):
    """A law of the noise level sigma >= 0 of a prompt: label i is `<w, x_i>` + sigma eta_i.

    `sample` is all it must have. What else it knows is asked of it:

    | method | what it makes possible |
    |---|---|
    | `placed`, `place` | prompts as functions of standard normal numbers: faster draws |
    | `moment` | exact risks of one-layer attention: E sigma^2, and E sigma^4 for whoever reads y^T y |
    | `nodes` | the posterior, and with it Bayes, when only the law of the level is known |
    """

    @abstractmethod
    def sample(self, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Draw the noise level of one prompt, in JAX: it is mapped over keys and compiled."""

    @property
    def placed(self) -> bool:
        """Whether there is a `place`."""
        return False

    def place(self, normal: Float[Array, ""]) -> Float[Array, ""]:
        """The noise level that a standard normal number stands for."""
        raise Unknown(f"{type(self).__name__} is not made of normal numbers")

    def moment(self, power: int) -> Number:
        """E sigma^power."""
        raise Unknown(f"E sigma^{power} of {type(self).__name__} is not known")

    def nodes(self, log_likelihood: LogLikelihood) -> NoiseNodes:
        """Nodes and weights that integrate likelihood times a smooth function over the law.

        **Arguments:** `log_likelihood` takes a list of levels. It may have a peak of a width of 1 / sqrt(2 n) in log
        sigma: see `peak_panels`.

        **Returns:** `NoiseNodes`, of a size that doesn't depend on the likelihood: it runs inside jit and vmap.
        """
        raise Unknown(
            f"{type(self).__name__} can't be integrated over, so there is no posterior that knows only the law"
        )
