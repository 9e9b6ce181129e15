"""The least risk of each class of predictors that has a closed form, by the names of `measure.best`."""

from collections.abc import Callable

import numpy as np

from .._unknown import Unknown
from ._classical import ols_risk, zero_risk
from ._gd_beta import gd_beta_minimum, gd_risk, one_step_risk, optimal_step
from ._heads import best_gaussian_heads
from ._problem import AbstractProblem


def _gd(problem: AbstractProblem) -> float:
    start = np.zeros(problem.d)
    return float(gd_risk(problem, start, optimal_step(problem, start)))


_PLAIN: dict[str, Callable[[AbstractProblem], float | None]] = {
    "zero": lambda problem: float(zero_risk(problem)),
    "ols": ols_risk,
    "gd": _gd,
    "preconditioned-gd": lambda problem: float(one_step_risk(problem, np.zeros(problem.d))),
    "gd-beta": lambda problem: float(gd_beta_minimum(problem)),
}


def least_risk(name: str, problem: AbstractProblem, *, heads: int | None = None, query_masked: bool = True) -> float:
    """What `risk(best(name, task), task)` is under Gaussian laws, in NumPy; `Unknown` where there is no closed form.

    >>> from descant.forms import PlainProblem
    >>> problem = PlainProblem(np.ones(5), np.eye(5), np.eye(5), 5, np.float64(0), np.float64(0))
    >>> round(least_risk("lsa", problem), 4), round(least_risk("zero", problem), 4)
    (4.5566, 10.0)
    """
    found = None
    if name in ("lsa", "multi-head-lsa"):
        heads = heads or (1 if name == "lsa" else problem.d + 1)
        found = best_gaussian_heads(problem, heads, query_masked=query_masked).risk
    elif name == "ltb" and not query_masked:
        found = best_gaussian_heads(problem, 1, query_masked=False, free_offset=True).risk
    elif name in ("ltb", "yq-lsa"):
        # The best of both is the best GD-beta, see `measure.best`.
        found = float(gd_beta_minimum(problem))
    elif name in _PLAIN and query_masked:
        found = _PLAIN[name](problem)
    if found is None:
        raise Unknown(f"{name} has no closed form here")
    return found
