"""Predictors by name; for a class of predictors, its best member on a task."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from .. import _check
from .._arrays import quietly, settled
from .._predictor import AbstractPredictor
from .._registry import Registry, fits, made
from .._unknown import Unknown
from ..estimators import (
    GD,
    OLS,
    AdaRidge,
    AttendingGramAffine,
    Bayes,
    ConstRidge,
    GDBeta,
    GramAffine,
    MonteCarloBayes,
    OracleRidge,
    PreconditionedGD,
    Zero,
    tuned_ridge,
)
from ..tasks import AbstractTask
from ..theory import (
    GramMoments,
    Problem,
    best_heads,
    gamma_from_moments,
    known_laws,
    optimal_gamma,
    optimal_step,
    step_from_moments,
)


class Attention(NamedTuple):
    """The choices that attention classes leave open."""

    heads: int
    query_masked: bool


@dataclass(frozen=True)
class Estimator:
    """A predictor by name, or a class of predictors and how its best member on a task is found.

    **Arguments:** `about` says in a few words what it is; `build(task, attention)` makes it. Those with heads to choose
    and those whose query may attend say so.
    """

    about: str
    build: Callable[[AbstractTask, Attention], AbstractPredictor]
    has_heads: bool = False
    can_attend: bool = False

    @classmethod
    def of(cls, thing: Any) -> "Estimator":
        """A record's own; that of a function from tasks to predictors, a predictor, or a class without arguments."""
        if isinstance(thing, cls):
            return thing
        about = (getattr(thing, "__doc__", None) or "a predictor of one's own").strip().splitlines()[0]
        if isinstance(thing, AbstractPredictor):
            return cls(about, lambda task, _: thing)
        asked = f"predictor is {thing!r}"
        if isinstance(thing, type) and issubclass(thing, AbstractPredictor):
            if fits(thing):
                return cls(about, lambda task, _: made(asked, thing))
        elif callable(thing) and fits(thing, "a task"):
            make: Callable[[AbstractTask], Any] = thing
            return cls(about, lambda task, _: made(asked, make, task))
        raise ValueError(
            f"{asked}; expected an Estimator, a predictor, a class of them without arguments, or a function of a task."
        )


def _laws(task: AbstractTask, query_masked: bool = True) -> Problem | GramMoments:
    """The laws in NumPy: nothing is compiled for the best member of a class."""
    return jax.tree.map(settled, known_laws(task, query_masked=query_masked))


def _step(task: AbstractTask, start: Float[np.ndarray, " d"]) -> Any:
    laws = _laws(task)
    return optimal_step(laws, start) if isinstance(laws, Problem) else step_from_moments(laws, start)


def _gamma(task: AbstractTask, start: Float[np.ndarray, " d"]) -> Any:
    laws = _laws(task)
    return optimal_gamma(laws, start) if isinstance(laws, Problem) else gamma_from_moments(laws, start)


def _gd(task: AbstractTask, _: Attention) -> AbstractPredictor:
    start = np.zeros(task.d)
    return GD(start, [_step(task, start)])


def _preconditioned_gd(task: AbstractTask, _: Attention) -> AbstractPredictor:
    return PreconditionedGD(_gamma(task, np.zeros(task.d)))


def _gd_beta(task: AbstractTask, _: Attention) -> AbstractPredictor:
    # Of any laws: a step feels the prior only through E (w - beta)(w - beta)^T, which is least at the mean.
    mean = np.asarray(task.regression().prior.moments(task.d).mean)
    return GDBeta(mean, _gamma(task, mean))


def _heads(task: AbstractTask, attention: Attention, *, free_offset: bool = False) -> AbstractPredictor:
    found = best_heads(_laws(task), attention.heads, query_masked=attention.query_masked, free_offset=free_offset)
    masked = GramAffine(found.offset, found.tensor)
    return masked if attention.query_masked else AttendingGramAffine(masked)


def _ltb(task: AbstractTask, attention: Attention) -> AbstractPredictor:
    # Query masked and laws Gaussian, the best LTB is the best GD-beta: the best affine function of G, and LTB can
    # express it. A query that attends with an empty label slot spoils that, and so may other laws.
    gaussian = isinstance(_laws(task), Problem)
    return (
        _gd_beta(task, attention) if attention.query_masked and gaussian else _heads(task, attention, free_offset=True)
    )


def _yq_lsa(task: AbstractTask, attention: Attention) -> AbstractPredictor:
    # GD-beta whether the query attends or not: with the right guess in its label slot, the query's residual is 0.
    if isinstance(_laws(task, attention.query_masked), Problem):
        return _gd_beta(task, attention)
    return _heads(task, attention, free_offset=True)


def _bayes(task: AbstractTask, _: Attention) -> AbstractPredictor:
    try:
        return Bayes.of(task)
    except Unknown as exact:
        try:
            return MonteCarloBayes.of(task)
        except Unknown as sampled:
            raise Unknown(f"the posterior mean is not known: {exact}; nor by Monte Carlo: {sampled}") from None


# Predictors by name, as `best` and `descant risk` take them; those of files and packages, too.
ESTIMATORS: Registry[Estimator] = Registry("predictor", "descant.estimators", Estimator.of)
for _name, _record in {
    "zero": Estimator("predicts 0", lambda task, _: Zero()),
    "ols": Estimator("least squares, of least norm where it is not unique", lambda task, _: OLS()),
    "gd": Estimator("one step of gradient descent from zero, scalar step size", _gd),
    "preconditioned-gd": Estimator("one step from zero, any matrix for a step size", _preconditioned_gd),
    "gd-beta": Estimator("one preconditioned step from a learnt start", _gd_beta),
    "ridge": Estimator("ridge regression that is told each prompt's noise level", lambda task, _: OracleRidge.of(task)),
    "const-ridge": Estimator("ridge with the mean noise variance", lambda task, _: ConstRidge.best(task)),
    "ada-ridge": Estimator("ridge with an estimated noise variance", lambda task, _: AdaRidge.of(task)),
    "tuned-ridge": Estimator("ridge with a tuned estimate of the noise variance", lambda task, _: tuned_ridge(task)),
    "bayes": Estimator("the posterior mean, by Monte Carlo where it has no closed form", _bayes),
    "lsa": Estimator("linear self-attention with one head", _heads, can_attend=True),
    "multi-head-lsa": Estimator("linear self-attention with several heads", _heads, has_heads=True, can_attend=True),
    "yq-lsa": Estimator("linear self-attention with a trainable initial guess", _yq_lsa, can_attend=True),
    "ltb": Estimator("linear attention, residual and linear MLP", _ltb, can_attend=True),
}.items():
    ESTIMATORS.add(_name, _record)


@quietly
def best(name: str, task: AbstractTask, *, heads: int | None = None, query_masked: bool = True) -> AbstractPredictor:
    """The predictor with this name; for a class of predictors, the member of least risk on the task.

    | name | what |
    |---|---|
    | `zero`, `ols`, `ridge`, `bayes` | one predictor; `ridge` is told the prompt's noise level |
    | `const-ridge`, `ada-ridge`, `tuned-ridge` | ridge with a constant, estimated or tuned noise variance |
    | `gd`, `preconditioned-gd` | one step from zero, with a scalar or a matrix for a step size |
    | `gd-beta` | one preconditioned step from a learnt start |
    | `lsa`, `multi-head-lsa` | linear self-attention with one head, or `heads` heads (d + 1 if left out) |
    | `yq-lsa` | linear self-attention with a trainable initial guess |
    | `ltb` | linear attention, residual and linear MLP |

    **Arguments:** `name` may also be one's own, as `module:name`: an `Estimator`, a predictor, or a function of a task
    that makes one. `query_masked=False` puts the query's own token among the keys and values of an attention.

    **Returns:** the predictor. What can't be known of the task (its moments, its posterior)
    is an `Unknown` that says so.
    """
    record = ESTIMATORS.get(name)
    if heads is not None:
        _check.size("heads", heads)
        if not record.has_heads and not (heads == 1 and record.can_attend):
            raise ValueError(f"heads is {heads}, but {name} has no heads to choose; use multi-head-lsa.")
    if not query_masked and not record.can_attend:
        attending = [each for each, other in ESTIMATORS if other.can_attend]
        raise ValueError(f"the query can't attend in {name}, which is no attention; use one of {', '.join(attending)}.")
    if heads is None:
        heads = task.d + 1 if record.has_heads else 1
    predictor = record.build(task, Attention(heads, query_masked))
    if not isinstance(predictor, AbstractPredictor):
        raise ValueError(
            f"predictor is {name!r}, which makes a {type(predictor).__name__}; expected an AbstractPredictor."
        )
    return predictor
