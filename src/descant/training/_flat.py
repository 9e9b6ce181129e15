"""A model's weights as one vector, as solvers want them, and back."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float


def flatten(model: Any) -> Float[np.ndarray, " p"]:
    """All arrays of a model, one after the other, as one vector.

    >>> from descant.attention import LinearGuess
    >>> flatten(LinearGuess(jnp.ones(3)))
    array([1., 1., 1.])
    """
    return np.asarray(ravel_pytree(eqx.filter(model, eqx.is_array))[0])


def rebuild(template: Any, theta: Float[np.ndarray | Array, " p"]) -> Any:
    """The model of the template's kind with these weights: `rebuild(model, flatten(model))` is the model again.

    **Arguments:** `theta` is a vector of as many numbers as `flatten(template)` has.
    """
    arrays, static = eqx.partition(template, eqx.is_array)
    return eqx.combine(ravel_pytree(arrays)[1](jnp.asarray(theta)), static)


def parameters(model: Any) -> int:
    """How many numbers a training of the model moves."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))
