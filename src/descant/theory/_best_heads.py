"""The best LSA with a given number of heads, under any laws whose moments are known."""

from .._unknown import Unknown
from ..forms import AbstractProblem, HeadSolution, best_gaussian_heads, best_of_form
from ._gram_moments import GramMoments
from ._laws import SIXTH
from ._moment_form import MomentForm


def best_heads(
    problem: AbstractProblem | GramMoments, heads: int, *, query_masked: bool = True, free_offset: bool = False
) -> HeadSolution:
    """The LSA with `heads` heads of least risk, over all weights; deterministic.

    **Arguments:** `problem` is what `known_laws` says of a task. With `free_offset`, a trainable linear guess (or a
    linear MLP) is part of the class. `query_masked=False` puts the query token (x_query, 0) among the keys and values;
    that takes a `Problem`, with Gaussian laws.

    **Returns:** a `HeadSolution`; `Unknown` if the laws lack a moment that it takes. Up to d heads it is the
    best that many descents found, from d + 1 on the solution of a linear problem. On isotropic problems whose query is
    masked there is no search but that for one number.

    >>> import jax.numpy as jnp
    >>> from descant.theory import Problem
    >>> problem = Problem(jnp.ones(5), jnp.eye(5), jnp.eye(5), 5, sigma=0.0)
    >>> round(best_heads(problem, 1).risk, 4)
    4.5566
    """
    if isinstance(problem, AbstractProblem):
        return best_gaussian_heads(problem, heads, query_masked=query_masked, free_offset=free_offset)
    if not query_masked:
        raise Unknown(SIXTH)
    if problem.unread:
        raise Unknown(problem.unread)
    return best_of_form(MomentForm(problem, free_offset), heads)
