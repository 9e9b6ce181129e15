"""Lower bounds on what single-head LSA loses to LTB (Zhang, Wu and Bartlett, Theorem 4.1)."""

from typing import NamedTuple

from .._arrays import Number, namespace
from .._linalg import safe_reciprocal
from ._problem import AbstractProblem


class GapBounds(NamedTuple):
    """Lower bounds on inf LSA - inf LTB.

    `proved` is the sharpest that the paper's proof yields, `simple` its consequence 2 |mu|^2 / (3 (n+1)), and `printed`
    the statement as printed (read from a transcription), whose second branch doesn't follow from the proof and exceeds
    the true gap on some problems.
    """

    proved: Number
    simple: Number
    printed: Number


def lsa_gap_bounds(problem: AbstractProblem) -> GapBounds:
    """The bounds for a problem: with t2 = tr (Lambda Psi)^2 and s = tr(Lambda Psi) + sigma^2.

    proved: [1/(n+1) - s^2 / ((n+1)^2 D)] |mu|^2 with D = 2 t2 + (3n+2) / (n (n+1)) s^2.

    >>> import numpy as np
    >>> from descant.theory import Problem
    >>> bounds = lsa_gap_bounds(Problem(np.ones(2), np.eye(2), np.eye(2), 8, sigma=0.5))
    >>> round(float(bounds.proved), 4), round(float(bounds.simple), 4)
    (0.2008, 0.1481)
    """
    n, size = problem.n, problem.size(problem.mean)
    product = problem.inputs @ problem.cov
    t2 = (product @ product).trace()
    s = problem.signal + problem.noise2
    bottom = 2 * t2 + (3 * n + 2) / (n * (n + 1)) * s**2
    simple = 2 / (3 * (n + 1))
    return GapBounds(
        proved=(1 / (n + 1) - s**2 * safe_reciprocal(bottom, bottom > 0) / (n + 1) ** 2) * size,
        simple=simple * size,
        printed=namespace(product).maximum(simple, s**2 * safe_reciprocal(t2, t2 > 0) / (n + 1) ** 2) * size,
    )
