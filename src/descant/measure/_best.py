"""Predictors by name; for a class of predictors, its best member on a task."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from .. import _check
from .._predictor import AbstractPredictor
from ..estimators import (
    GD,
    OLS,
    AdaRidge,
    AttendingGramAffine,
    Bayes,
    ConstRidge,
    GDBeta,
    GramAffine,
    OracleRidge,
    PreconditionedGD,
    Zero,
    tuned_ridge,
)
from ..tasks import LinearRegression
from ..theory import Problem, best_heads, optimal_gamma, optimal_step


class Attention(NamedTuple):
    """The choices that attention classes leave open."""

    heads: int
    query_masked: bool


def _gd(task: LinearRegression, _: Attention) -> AbstractPredictor:
    start = jnp.zeros(task.d)
    return GD(start, optimal_step(Problem.of(task), start)[None])


def _preconditioned_gd(task: LinearRegression, _: Attention) -> AbstractPredictor:
    return PreconditionedGD(optimal_gamma(Problem.of(task), jnp.zeros(task.d)))


def _gd_beta(task: LinearRegression, _: Attention) -> AbstractPredictor:
    return GDBeta(task.prior.mean, optimal_gamma(Problem.of(task), task.prior.mean))


def _heads(task: LinearRegression, attention: Attention, *, free_offset: bool = False) -> AbstractPredictor:
    found = best_heads(Problem.of(task), attention.heads, query_masked=attention.query_masked, free_offset=free_offset)
    masked = GramAffine(found.offset, found.tensor)
    return masked if attention.query_masked else AttendingGramAffine(masked)


def _ltb(task: LinearRegression, attention: Attention) -> AbstractPredictor:
    # Query masked, the best LTB is the best GD-beta: the best affine function of G, and LTB can express it. A query that
    # attends with an empty label slot spoils that.
    return _gd_beta(task, attention) if attention.query_masked else _heads(task, attention, free_offset=True)


# y_q-LSA is GD-beta whether the query attends or not: with the right guess in its label slot, the query's residual is 0.
_BUILDERS: dict[str, Callable[[LinearRegression, Attention], AbstractPredictor]] = {
    "zero": lambda task, _: Zero(),
    "ols": lambda task, _: OLS(),
    "gd": _gd,
    "preconditioned-gd": _preconditioned_gd,
    "gd-beta": _gd_beta,
    "ridge": lambda task, _: OracleRidge(task.prior),
    "const-ridge": lambda task, _: ConstRidge.best(task),
    "ada-ridge": lambda task, _: AdaRidge.of(task),
    "tuned-ridge": lambda task, _: tuned_ridge(task),
    "bayes": lambda task, _: Bayes(task),
    "lsa": _heads,
    "multi-head-lsa": _heads,
    "yq-lsa": _gd_beta,
    "ltb": _ltb,
}
NAMES = tuple(_BUILDERS)
ATTENTION = ("lsa", "multi-head-lsa", "yq-lsa", "ltb")


def best(
    name: str, task: LinearRegression, *, heads: int | None = None, query_masked: bool = True
) -> AbstractPredictor:
    """The predictor with this name; for a class of predictors, the member of least risk on the task.

    | name | what |
    |---|---|
    | `zero`, `ols`, `ridge`, `bayes` | one predictor; `ridge` is told the prompt's noise level |
    | `const-ridge`, `ada-ridge`, `tuned-ridge` | ridge with a constant, an estimated, a tuned estimated noise variance |
    | `gd`, `preconditioned-gd` | one step from zero, with a scalar or a matrix for a step size |
    | `gd-beta` | one preconditioned step from a learnt start |
    | `lsa`, `multi-head-lsa` | linear self-attention with one head, or `heads` heads (d + 1 if left out) |
    | `yq-lsa` | linear self-attention with a trainable initial guess |
    | `ltb` | linear attention, residual and linear MLP |

    `query_masked=False` puts the query's own token among the keys and values of an attention.
    """
    _check.one_of("name", name, NAMES)
    if heads is not None:
        _check.size("heads", heads)
        if name != "multi-head-lsa" and not (heads == 1 and name in ATTENTION):
            raise ValueError(f"heads is {heads}, but {name} has no heads to choose; use multi-head-lsa.")
    if not query_masked and name not in ATTENTION:
        raise ValueError(f"the query can't attend in {name}, which is no attention; use one of {', '.join(ATTENTION)}.")
    if heads is None:
        heads = task.d + 1 if name == "multi-head-lsa" else 1
    return _BUILDERS[name](task, Attention(heads, query_masked))
