"""Inputs of one's own without a class: a sampler, and what is known of its moments."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ... import _check
from .._law import AbstractInputs, VectorMoments


class GivenInputs(AbstractInputs):
    """x is drawn by `draw(key)`; its moments are those given, which are believed.

    **Arguments:** `draw` gives a vector (d,); `moments` are `VectorMoments`, None for those that are not known.

    >>> import jax
    >>> from descant.tasks import independent_moments
    >>> one = np.ones(2)
    >>> exponential = independent_moments(one, one, 2 * one, 9 * one)
    >>> inputs = GivenInputs(lambda key: jax.random.exponential(key, (2,)), exponential)
    >>> from descant import LinearRegression, estimators, risk
    >>> risk(estimators.Zero(), LinearRegression(2, 5, inputs=inputs)).value
    4.0
    """

    draw: Callable[[PRNGKeyArray], Float[Array, " d"]] = eqx.field(static=True)
    mean: Float[Array, " d"]
    second: Float[Array, "d d"]
    third: Callable | None = eqx.field(static=True)
    fourth: Callable | None = eqx.field(static=True)

    def __init__(self, draw: Callable[[PRNGKeyArray], Float[Array, " d"]], moments: VectorMoments):
        self.draw = draw
        self.mean = jnp.asarray(moments.mean, dtype=float)
        self.second = jnp.asarray(moments.second, dtype=float)
        self.third = moments.third
        self.fourth = moments.fourth

    def check(self, d: int) -> None:
        """The given moments must be those of d entries."""
        _check.shape("inputs.mean", self.mean, (d,), f"d = {d}")
        _check.shape("inputs.second", self.second, (d, d), f"d = {d}")

    def sample(self, d: int, *, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw an input."""
        x = self.draw(key)
        _check.shape("draw(key)", x, (d,), f"d = {d}")
        return x.astype(self.mean.dtype)

    def moments(self, d: int) -> VectorMoments:
        """Those given."""
        del d
        return VectorMoments(np.asarray(self.mean), np.asarray(self.second), self.third, self.fourth)

    def second_moment(self, d: int) -> Float[Array, "d d"]:
        """That given."""
        del d
        return self.second
