"""What stands in the label slot of the query token: the initial guess."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import _check
from ..tasks import Prompt


class AbstractGuess(eqx.Module):
    """A rule for y_q, the label slot of the query token (x_query, y_q); `NoGuess`, `LinearGuess` and others are such.

    One of your own that is to be saved stands among the `parts` of the `Kind` that uses it.
    """

    @abstractmethod
    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """The number in the label slot, from the prompt; its hidden `w` and `y_query` are not to be read."""

    @abstractmethod
    def slope(self, d: int, dtype) -> Float[Array, " d"] | None:
        """g of this dtype if the guess is `<g, x_query>`, so that a layer stays linear in the query; else None."""


class NoGuess(AbstractGuess):
    """y_q = 0, as in most papers."""

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """Zero."""
        return jnp.zeros((), prompt.x_query.dtype)

    def slope(self, d: int, dtype) -> Float[Array, " d"]:
        """The zero vector."""
        return jnp.zeros(d, dtype)


class LinearGuess(AbstractGuess):
    """y_q = `<g, x_query>` with a trainable g: the guess of y_q-LSA. At its best g is the prior mean.

    >>> LinearGuess(jnp.ones(3)).slope(3, float)
    Array([1., 1., 1.], dtype=float64)
    """

    g: Float[Array, " d"]

    def __check_init__(self):
        if self.g.ndim != 1:
            raise ValueError(f"g has shape {self.g.shape}; expected a vector of d numbers.")

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """`<g, x_query>`."""
        return self.g @ prompt.x_query

    def slope(self, d: int, dtype) -> Float[Array, " d"]:
        """g itself."""
        del dtype
        _check.shape("g", self.g, (d,), f"d = {d}")
        return self.g


class ConstantGuess(AbstractGuess):
    """y_q = c for every prompt.

    For inputs whose law is symmetric about 0 and a masked query it can't help: the target is odd in x_query, and all
    that a constant guess adds to the prediction is even. A query that attends can learn the prior mean from a large one
    (`theory.large_constant_risk`).
    """

    c: Float[Array, ""]

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """c."""
        return self.c

    def slope(self, d: int, dtype) -> None:
        """None: not linear in the query."""


class GivenGuess(AbstractGuess):
    """y_q comes with the prompt, from outside: `prompt.guess`; a prompt without one is a `ValueError`."""

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """`prompt.guess`."""
        if prompt.guess is None:
            raise ValueError("the prompt has no guess, and this model takes its guess from outside; set Prompt.guess.")
        return prompt.guess

    def slope(self, d: int, dtype) -> None:
        """None: nothing is known of it."""


GUESSES = (NoGuess, LinearGuess, ConstantGuess, GivenGuess)
