"""A model's weights as one vector, as solvers want them, and back."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array


def flatten(model: Any) -> np.ndarray:
    """All arrays of a model, one after the other."""
    return np.asarray(ravel_pytree(eqx.filter(model, eqx.is_array))[0])


def rebuild(template: Any, theta: np.ndarray | Array) -> Any:
    """The model of the template's kind with these weights."""
    arrays, static = eqx.partition(template, eqx.is_array)
    return eqx.combine(ravel_pytree(arrays)[1](jnp.asarray(theta)), static)


def parameters(model: Any) -> int:
    """How many numbers a training of the model moves."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))
