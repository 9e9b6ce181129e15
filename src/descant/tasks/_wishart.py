"""Moments of a Gaussian context, drawn without its tokens."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._chi import chi_quantiles
from ._prompt import join_gram


def bartlett_normals(d: int) -> int:
    """How many standard normal numbers a draw takes: below the diagonal, d of label noise, d + 1 for the chi law."""
    return d * (d - 1) // 2 + d + d + 1


def bartlett_gram(
    w: Float[Array, " d"],
    sigma: Float[Array, ""],
    root: Float[Array, "d d"],
    normals: Float[Array, " m"],
    n: int,
) -> Float[Array, "e e"]:
    """The Gram matrix of n > d tokens (x, `<w, x>` + noise) with x = root z, z ~ N(0, I): its law, not its tokens.

    Bartlett's decomposition: Z^T Z = L L^T with L lower triangular, L_ii^2 ~ chi2 with n - i + 1 degrees of freedom
    (i = 1..d), L_ij ~ N(0, 1) below the diagonal. The labels are then v = L^T w_z + sigma N(0, I) along the columns of
    the orthonormal factor Z L^-T, and nothing but noise orthogonal to it: sigma^2 chi2_{n-d}. The cost doesn't depend
    on n.
    """
    d = w.shape[0]
    below, noise, for_chi = jax.lax.split(normals, (d * (d - 1) // 2, d, d + 1))
    # n, n-1, ..., n-d+1 degrees of freedom on the diagonal, and n-d for what is only noise.
    roots = chi_quantiles(for_chi, range(n, n - d - 1, -1))
    lower = _lower(roots[:d], below)
    label = lower.T @ (root.T @ w) + sigma * noise
    factor = root @ lower
    return join_gram(factor @ factor.T, factor @ label, label @ label + (sigma * roots[d]) ** 2)


def _lower(diagonal: Float[Array, " d"], below: Float[Array, " m"]) -> Float[Array, "d d"]:
    """The lower triangular matrix with this diagonal and, row by row, these numbers below it."""
    d = diagonal.shape[0]
    rows = [
        jnp.concatenate(
            [below[i * (i - 1) // 2 : i * (i + 1) // 2], diagonal[i : i + 1], jnp.zeros(d - 1 - i, below.dtype)]
        )
        for i in range(d)
    ]
    return jnp.stack(rows)
