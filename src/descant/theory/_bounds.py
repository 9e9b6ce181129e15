"""Lower bounds on what single-head LSA loses to LTB (Zhang, Wu and Bartlett, Theorem 4.1)."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._linalg import safe_reciprocal
from ._problem import Problem


class GapBounds(NamedTuple):
    """Lower bounds on inf LSA - inf LTB.

    `proved` is the sharpest that the paper's proof yields, `simple` its consequence 2 |mu|^2 / (3 (n+1)), and `printed`
    the statement as printed (read from a transcription), whose second branch doesn't follow from the proof and exceeds
    the true gap on some problems.
    """

    proved: Float[Array, ""]
    simple: Float[Array, ""]
    printed: Float[Array, ""]


def lsa_gap_bounds(problem: Problem) -> GapBounds:
    """The bounds for a problem: with t2 = tr (Lambda Psi)^2 and s = tr(Lambda Psi) + sigma^2.

    proved: [1/(n+1) - s^2 / ((n+1)^2 D)] |mu|^2 with D = 2 t2 + (3n+2) / (n (n+1)) s^2.

    >>> bounds = lsa_gap_bounds(Problem(jnp.ones(2), jnp.eye(2), jnp.eye(2), 8, sigma=0.5))
    >>> round(float(bounds.proved), 4), round(float(bounds.simple), 4)
    (0.2008, 0.1481)
    """
    n, size = problem.n, problem.size(problem.mean)
    product = problem.inputs @ problem.cov
    t2 = jnp.trace(product @ product)
    s = problem.signal + problem.noise2
    bottom = 2 * t2 + (3 * n + 2) / (n * (n + 1)) * s**2
    simple = 2 / (3 * (n + 1))
    return GapBounds(
        proved=(1 / (n + 1) - s**2 * safe_reciprocal(bottom, bottom > 0) / (n + 1) ** 2) * size,
        simple=simple * size,
        printed=jnp.maximum(simple, s**2 * safe_reciprocal(t2, t2 > 0) / (n + 1) ** 2) * size,
    )
