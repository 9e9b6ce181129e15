"""Moments of a Gaussian context, drawn without its tokens."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ._prompt import join_gram


def bartlett_normals(d: int) -> int:
    """How many standard normal numbers a draw takes: those below the diagonal, and d of label noise."""
    return d * (d - 1) // 2 + d


def bartlett_freedoms(d: int, n: int) -> Float[Array, " e"]:
    """Degrees of freedom of the chi-square numbers a draw takes: n, n-1, ..., n-d+1, and n-d for what is only noise."""
    return n - jnp.arange(d + 1, dtype=float)


def bartlett_gram(
    w: Float[Array, " d"],
    sigma: Float[Array, ""],
    root: Float[Array, "d d"],
    normals: Float[Array, " m"],
    chi_squares: Float[Array, " e"],
) -> Float[Array, "e e"]:
    """The Gram matrix of n > d tokens (x, `<w, x>` + noise) with x = root z, z ~ N(0, I): its law, not its tokens.

    Bartlett's decomposition: Z^T Z = L L^T with L lower triangular, L_ii^2 ~ chi2 with n - i + 1 degrees of freedom
    (i = 1..d), L_ij ~ N(0, 1) below the diagonal. The labels are then v = L^T w_z + sigma N(0, I) along the columns of
    the orthonormal factor Z L^-T, and nothing but noise orthogonal to it: sigma^2 chi2_{n-d}. The cost doesn't depend
    on n.
    """
    d = w.shape[0]
    rows, columns = jnp.tril_indices(d, -1)
    lower = jnp.diag(jnp.sqrt(chi_squares[:d])).at[rows, columns].set(normals[:-d])
    label = lower.T @ (root.T @ w) + sigma * normals[-d:]
    factor = root @ lower
    return join_gram(factor @ factor.T, factor @ label, label @ label + sigma**2 * chi_squares[d])
