"""Moments of a Gaussian context, drawn without its tokens."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._prompt import join_gram


def bartlett_gram(
    w: Float[Array, " d"], sigma: Float[Array, ""], root: Float[Array, "d d"], n: int, *, key: PRNGKeyArray
) -> Float[Array, "d+1 d+1"]:
    """The Gram matrix of n > d tokens (x, <w, x> + noise) with x = root z, z ~ N(0, I): its law, not its tokens.

    Bartlett's decomposition: Z^T Z = L L^T with L lower triangular, L_ii^2 ~ chi2 with n - i + 1 degrees of freedom
    (i = 1..d), L_ij ~ N(0, 1) below the diagonal. The labels are then v = L^T w_z + sigma N(0, I) along the columns of
    the orthonormal factor Z L^-T, and nothing but noise orthogonal to it: sigma^2 chi2_{n-d}.
    """
    d = w.shape[0]
    key_chi, key_lower, key_label = jax.random.split(key, 3)
    # One draw for the d diagonal entries and the orthogonal noise; n may be large, the cost stays.
    chi_squares = jax.random.chisquare(key_chi, n - jnp.arange(d + 1, dtype=float), dtype=float)
    lower = jnp.diag(jnp.sqrt(chi_squares[:d]))
    lower = lower.at[jnp.tril_indices(d, -1)].set(jax.random.normal(key_lower, (d * (d - 1) // 2,)))
    label = lower.T @ (root.T @ w) + sigma * jax.random.normal(key_label, (d,))
    factor = root @ lower
    return join_gram(factor @ factor.T, factor @ label, label @ label + sigma**2 * chi_squares[d])
