"""A model's weights as one vector, as solvers want them, and back."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def flatten(model: Any) -> Float[np.ndarray, " p"]:
    """All arrays of a model, one after the other, as one vector.

    >>> from descant.attention import LinearGuess
    >>> flatten(LinearGuess(jnp.ones(3)))
    array([1., 1., 1.])
    """
    leaves = jax.tree.leaves(eqx.filter(model, eqx.is_array))
    return np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.zeros(0)


def rebuild(template: Any, theta: Float[np.ndarray | Array, " p"]) -> Any:
    """The model of the template's kind with these weights: `rebuild(model, flatten(model))` is the model again.

    **Arguments:** `theta` is a vector of as many numbers as `flatten(template)` has; of the template's arrays only
    shapes and types are looked at, and `outline(template)` will do.
    """
    arrays, static = eqx.partition(template, lambda leaf: eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, structure = jax.tree.flatten(arrays)
    # In NumPy, where the numbers are known: a step of a small fit would spend more time here than on its contexts.
    ends = np.cumsum([leaf.size for leaf in leaves]).tolist()
    parts = [
        jnp.asarray(theta[end - leaf.size : end].reshape(leaf.shape), leaf.dtype)
        for leaf, end in zip(leaves, ends, strict=True)
    ]
    return eqx.combine(jax.tree.unflatten(structure, parts), static)


def outline(model: Any) -> Any:
    """A model without its numbers: shapes and types, which a compiled program takes as they are."""
    arrays, static = eqx.partition(model, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arrays), static)


def parameters(model: Any) -> int:
    """How many numbers a training of the model moves."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))
