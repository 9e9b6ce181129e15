"""Integration of a positive, possibly very peaked function exp(g(t)) over (-inf, top], or over [bottom, top].

The posterior of a noise level has a width of about 1/sqrt(2 n) in log sigma: a fixed rule that is right for twenty
tokens misses the peak for a million. So the panels are laid where the mass is: a coarse look finds the range in which
exp(g) is more than e^-DEPTH of its maximum, a second look narrows it, and composite Gauss-Legendre integrates there.
Everything has a fixed size, so it runs inside jit and vmap.
"""

from collections.abc import Callable
from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# What is cut off on the left is below e^-30 = 1e-13 of the peak per unit length.
DEPTH = 30.0
LOOK = 32
LOOKS = 4
PANELS = 10
ORDER = 16
# The coarser rule leaves these nodes out. Of the ways to leave four out it is one whose weights all stay positive.
LEFT_OUT = (0, 5, 10, 15)


@lru_cache
def _gauss_legendre_pair() -> tuple[
    Float[np.ndarray, " order"], Float[np.ndarray, " order"], Float[np.ndarray, " order"]
]:
    """Nodes on [0, 1], Gauss-Legendre weights, and the weights of the coarser rule on the same nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)
    kept = np.setdiff1d(np.arange(ORDER), LEFT_OUT)
    # The interpolatory rule: exact for Legendre polynomials up to its own number of nodes; only P_0 has an integral.
    basis = np.polynomial.legendre.legvander(nodes[kept], kept.size - 1)
    integrals = np.zeros(kept.size)
    integrals[0] = 2.0
    check = np.zeros(ORDER)
    check[kept] = np.linalg.solve(basis.T, integrals)
    return (nodes + 1) / 2, weights / 2, check / 2


def _narrow(
    log_density: Callable, low: Float[Array, ""], high: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The part of [low, high] in which the density is not negligible, to one step of a grid of LOOK points."""
    grid = low + (high - low) * jnp.linspace(0.0, 1.0, LOOK)
    values = log_density(grid)
    inside = values > jnp.max(values) - DEPTH
    step = (high - low) / (LOOK - 1)
    first = grid[jnp.argmax(inside)]
    last = grid[LOOK - 1 - jnp.argmax(inside[::-1])]
    return jnp.maximum(first - step, low), jnp.minimum(last + step, high)


def peak_panels(
    log_density: Callable[[Float[Array, " m"]], Float[Array, " m"]],
    top: Float[Array, ""],
    bottom: Float[Array, ""] | None = None,
) -> tuple[Float[Array, " nodes"], Float[Array, " nodes"], Float[Array, " nodes"]]:
    """Nodes, log weights and log weights of a coarser rule, for the integral of exp(log_density) over (-inf, top].

    **Arguments:** `log_density` takes a list of points. The density must be unimodal up to factors that the panels
    resolve, and fall at least like e^t on the left; or the integral begins at `bottom`.

    **Returns:** three arrays of 160 numbers: the integral is the sum of exp(log_density(nodes) + log weights).
    """
    low, high = top - DEPTH if bottom is None else bottom, top
    # Each look shrinks the range to the peak's width plus two steps of its grid: by 15 at most. Four of them go from
    # DEPTH to 5e-4, the whole width of the peak for a million tokens.
    for _ in range(LOOKS):
        low, high = _narrow(log_density, low, high)
    unit, weights, check = _gauss_legendre_pair()
    width = (high - low) / PANELS
    t = low + width * (jnp.arange(PANELS, dtype=low.dtype)[:, None] + unit[None, :])
    weights, check = jnp.broadcast_to(weights, t.shape), jnp.broadcast_to(check, t.shape)
    log_check = jnp.where(check > 0, jnp.log(jnp.where(check > 0, check, 1.0)), -jnp.inf)
    return t.ravel(), (jnp.log(weights) + jnp.log(width)).ravel(), (log_check + jnp.log(width)).ravel()
