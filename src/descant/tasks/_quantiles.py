"""What a standard normal number stands for in another law: its quantile there."""

import math

import jax.numpy as jnp
from jax.scipy.special import log_ndtr, ndtr
from jaxtyping import Array, Float, Int


def laplace_quantile(normals: Float[Array, " m"]) -> Float[Array, " m"]:
    """Of the density exp(-|v|) / 2; right in the tails too, where quantiles in [0, 1] are rounded to 1."""
    return -jnp.sign(normals) * (log_ndtr(-jnp.abs(normals)) + math.log(2.0))


def chosen(weights: Float[Array, " m"], normal: Float[Array, ""]) -> Int[Array, ""]:
    """Which of m things, chosen with these weights, is at the number's quantile."""
    return jnp.sum(ndtr(normal) >= jnp.cumsum(weights)[:-1])
