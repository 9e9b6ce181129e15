"""Standard normal numbers, as fast as they can be had."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray


def normals(key: PRNGKeyArray, count: int, dtype) -> Float[Array, " count"]:
    """So many standard normal numbers in a row.

    In a row, because XLA's loop over an array whose last axis is short takes five times longer per number. In float32
    each draw of 64 bits serves for two numbers, where `jax.random.normal` throws half of it away; the numbers are made
    from their 23 bits as it makes them.
    """
    if dtype != jnp.float32:
        return jax.random.normal(key, (count,), dtype)
    pairs = jax.random.bits(key, (-(-count // 2),), jnp.uint64)
    bits = jnp.concatenate([(pairs >> np.uint64(32)).astype(jnp.uint32), pairs.astype(jnp.uint32)])[:count]
    # 23 bits behind the exponent of 1 are a number in [1, 2).
    ones = jax.lax.bitcast_convert_type((bits >> np.uint32(9)) | np.uint32(0x3F800000), jnp.float32)
    low = np.nextafter(np.float32(-1), np.float32(0))
    uniform = jnp.maximum(low, (ones - np.float32(1)) * (np.float32(1) - low) + low)
    return np.float32(np.sqrt(2)) * jax.lax.erf_inv(uniform)
