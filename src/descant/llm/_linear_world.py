"""The same experiment in linear attention's world, where risks are exact.

A task w, labels of variance 1, n demonstrations with noise, and a guess `<w0, x>` of the query's label, in the query's
token. y_q-LSA takes one step of gradient descent from there. The step feels w - w0 alone, whatever the law of w is.
With inputs N(0, I), and a guess whose squared distance from the answer is D, the same in all directions (w - w0 has
mean 0 and covariance D/d I), it solves the problem of a task with prior N(0, D/d I).
"""

import jax.numpy as jnp

from ..theory import Problem, one_step_risk, optimal_gamma

D, NOISE2 = 10, 0.25


def guessed_problem(distance: float, n: int, *, d: int = D, noise2: float = NOISE2) -> Problem:
    """The problem that is left to solve from a guess at a squared distance."""
    return Problem(jnp.zeros(d), distance / d * jnp.eye(d), jnp.eye(d), n, sigma=noise2**0.5)


def guessed_risk(distance: float, n: int, *, d: int = D, noise2: float = NOISE2) -> float:
    """Exact risk of y_q-LSA given guesses at a squared distance from the answer, with the best weights for them.

    >>> round(guessed_risk(1.0, 10, noise2=0.0), 6) == round(11 / 21, 6)
    True
    """
    if n == 0:
        return distance
    problem = guessed_problem(distance, n, d=d, noise2=noise2)
    return float(one_step_risk(problem, problem.mean))


def remaining_share(n: int, *, distance: float = 1.0, d: int = D, noise2: float = NOISE2) -> float:
    """How much of the guess is left in the answer after n demonstrations: 1 - tr(Gamma) / d.

    It is the guess's coefficient in the regression of the answer on guess and label; the label has the rest.

    >>> round(remaining_share(10, noise2=0.0), 6) == round(11 / 21, 6)
    True
    """
    if n == 0:
        return 1.0
    problem = guessed_problem(distance, n, d=d, noise2=noise2)
    return 1.0 - float(jnp.trace(optimal_gamma(problem, problem.mean))) / d
