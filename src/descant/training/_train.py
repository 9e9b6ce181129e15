"""The front door: pick a solver, say which and why, train, measure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._trainer import State, Trainer, to_end
from ..measure import Risk, risk
from ..tasks import AbstractTask
from ._adam import AdamTrainer
from ._lm import LMTrainer
from ._objective import OBJECTIVES, natural_objective
from ._population import PopulationTrainer, has_population_risk, is_exact

SOLVERS = ("auto", "population", "lm", "adam")
# A Gauss-Newton matrix of this many parameters still fits and factorises in a second.
MOST_PARAMETERS = 2500


@dataclass(frozen=True)
class Choice:
    """Which solver and objective, and why."""

    solver: str
    objective: str
    reason: str


@dataclass(frozen=True)
class Trained:
    """A trained model, its risk (exact, or on fresh contexts), how it was trained, and what was told on the way."""

    model: Any
    risk: Risk
    choice: Choice
    rows: list[dict[str, Any]] = field(repr=False)


def choose(model: AbstractPredictor, task: AbstractTask, solver: str = "auto", objective: str = "auto") -> Choice:
    """The solver and objective that `train` would use."""
    _check.one_of("solver", solver, SOLVERS)
    _check.one_of("objective", objective, ("auto", *OBJECTIVES))
    linear = model.linear
    size = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))
    reason = "as asked"
    if solver == "auto":
        if objective in ("auto", "posterior") and has_population_risk(model, task):
            how = "is known exactly" if is_exact(model, task) else "is a quadratic form in moments of sampled contexts"
            solver, reason = "population", f"one layer: its risk {how}, and is minimised itself"
        elif linear and objective != "query" and size <= MOST_PARAMETERS:
            solver, reason = "lm", f"linear in the query with {size} parameters: least squares on a pool of moments"
        elif linear:
            why = "the query objective" if objective == "query" else f"{size} parameters are too many for least squares"
            solver, reason = "adam", f"{why}: Adam on fresh contexts"
        else:
            solver, reason = "adam", "not linear in the query: Adam on fresh prompts"
    if solver == "lm" and not linear:
        raise ValueError(
            f"solver lm fits weight vectors, and {type(model).__name__} is not linear in the query; use adam."
        )
    if solver == "population":
        # All expectations are done by hand: the objectives, which differ in how many are, have become one.
        return Choice(solver, "risk", reason)
    if objective == "auto":
        objective = natural_objective(model, task)
    return Choice(solver, objective, reason)


def make_trainer(model: Any, task: AbstractTask, choice: Choice, *, key: PRNGKeyArray, **settings: Any) -> Trainer:
    """The trainer of a choice; `settings` are those of its class. Adam also takes a list of models."""
    match choice.solver:
        case "population":
            return PopulationTrainer(model, task, key=key, **settings)
        case "lm":
            return LMTrainer(model, task, objective=choice.objective, key=key, **settings)
        case "adam":
            return AdamTrainer(model, task, objective=choice.objective, key=key, **settings)
    raise ValueError(f"solver is {choice.solver!r}; expected one of: {', '.join(SOLVERS[1:])}.")


def train(
    model: AbstractPredictor,
    task: AbstractTask,
    *,
    solver: str = "auto",
    objective: str = "auto",
    key: PRNGKeyArray | None = None,
    samples: int = 65_536,
    on_rows: Callable[[list[dict[str, Any]]], Any] | None = None,
    **settings: Any,
) -> Trained:
    """Train a model on a task and measure what came out.

    **Arguments:** `model` gives the kind, the sizes and a first start; `solver` is `auto`, `population` (Newton on
    the whole risk of a single layer), `lm` (Levenberg-Marquardt on a pool of moments, through shallower networks to deep
    ones) or `adam`; `objective` one of `query`, `weights`, `posterior`, `adjusted`, or `auto`; `settings` go to the
    solver. `samples` fresh contexts measure the result, none left out.

    >>> import jax
    >>> from descant import LinearRegression
    >>> from descant.attention import LSA
    >>> found = train(LSA.random(2, key=jax.random.key(0)), LinearRegression(d=2, n=4))
    >>> found.choice.solver, round(found.risk.value, 6)
    ('population', 0.857143)
    """
    key = jax.random.key(0) if key is None else key
    choice = choose(model, task, solver, objective)
    trainer = make_trainer(model, task, choice, key=jax.random.fold_in(key, 0), **settings)
    told: list[dict[str, Any]] = []

    def tell(state: State, rows: list[dict[str, Any]]) -> None:
        del state
        told.extend(rows)
        if on_rows is not None:
            on_rows(rows)

    found = trainer.model(to_end(trainer, each=tell))
    return Trained(found, risk(found, task, samples=samples, key=jax.random.fold_in(key, 1)), choice, told)
