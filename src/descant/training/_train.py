"""The front door: pick a solver, say which and why, train, measure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._trainer import State, Trainer, to_end
from ..measure import Risk, risk
from ..tasks import AbstractTask
from . import _adam, _lm, _population
from ._display import Display, References
from ._objective import OBJECTIVES, check_objective
from ._solver import SOLVERS, Solver, as_solver

# `auto` asks them in this order: the most exact first.
AUTO = (_population.SOLVER, _lm.SOLVER, _adam.SOLVER)
for _solver in AUTO:
    SOLVERS.add(_solver.name, _solver)


@dataclass(frozen=True)
class Choice:
    """Which solver and objective, and why: `reason` is a sentence, `record` the `Solver` itself."""

    solver: str
    objective: str
    reason: str
    record: Solver = field(repr=False, compare=False)


@dataclass(frozen=True)
class Trained:
    """What `train` returns.

    - `model`: the trained model; `risk`: its risk, exact or on fresh contexts; `choice`: how it was trained.
    - `stopped`: why the training stopped, in words; `rows`: what it told on the way, a dictionary each.
    """

    model: Any
    risk: Risk
    choice: Choice
    stopped: str
    rows: list[dict[str, Any]] = field(repr=False)


def choose(
    model: AbstractPredictor, task: AbstractTask, solver: str | Solver | type = "auto", objective: str = "auto"
) -> Choice:
    """The solver and objective that `train` would use.

    **Arguments:** those of `train`. **Returns:** a `Choice`; `ValueError` or `Unknown` say why if the solver can't do
    it.

    >>> import jax
    >>> from descant import LinearRegression
    >>> from descant.attention import LSA
    >>> choose(LSA.random(2, key=jax.random.key(0)), LinearRegression(d=2, n=4)).reason
    'one layer: its risk is known exactly, and is minimised itself'
    """
    _check.one_of("objective", objective, ("auto", *OBJECTIVES))
    if solver == "auto":
        record, reason = next((each, why) for each in AUTO if (why := each.suits(model, task, objective)) is not None)
    else:
        record, reason = (SOLVERS.get(solver) if isinstance(solver, str) else as_solver(solver)), "as asked"
    record.can(model, task)
    found = record.objective(model, task, objective)
    # Solvers may have one of their own, as `population` has the risk itself.
    if found in OBJECTIVES:
        check_objective(found, model, task)
    return Choice(record.name, found, reason, record)


def make_trainer(model: Any, task: AbstractTask, choice: Choice, *, key: PRNGKeyArray, **settings: Any) -> Trainer:
    """The trainer of a choice, to be driven by `to_end` or step by step.

    **Arguments:** `model` may be a list of models for a solver of many; `settings` are arguments of the trainer's
    class.
    """
    return choice.record.make(model, task, objective=choice.objective, key=key, **settings)


def stop_reason(state: State) -> str:
    """Why a trainer that has finished stopped, in words, as it left it in its last state.

    >>> stop_reason(State({}, {"stopped": "step limit of 100"}))
    'step limit of 100'
    """
    return state.info.get("stopped", "the trainer says that it is finished, not why")


def train(
    model: AbstractPredictor,
    task: AbstractTask,
    *,
    solver: str | Solver | type = "auto",
    objective: str = "auto",
    key: PRNGKeyArray | None = None,
    samples: int = 65_536,
    on_rows: Callable[[list[dict[str, Any]]], Any] | None = None,
    progress: bool = False,
    **settings: Any,
) -> Trained:
    """Train a model on a task and measure what came out.

    **Arguments:** `model` gives the kind, the sizes and a first start; `solver` is `auto`, `population` (Newton on the
    whole risk of a single layer), `lm` (Levenberg-Marquardt on a pool of moments, through shallower networks to deep
    ones), `adam`, or one of your own (a class of trainers, a `Solver`, or `module:name`); `objective` one of `query`,
    `weights`, `posterior`, `adjusted`, or `auto`; `settings` go to the solver. `samples` fresh contexts measure the
    result, none left out. `on_rows` sees what the trainer tells, as it tells it; `progress=True` shows it live, as
    `descant train` does, on a terminal or in a notebook, and nothing elsewhere. The same `key` (key 0 if left out)
    gives the same result.

    **Returns:** a `Trained`.

    >>> import jax
    >>> from descant import LinearRegression
    >>> from descant.attention import LSA
    >>> found = train(LSA.random(2, key=jax.random.key(0)), LinearRegression(d=2, n=4))
    >>> found.choice.solver, round(found.risk.value, 6), found.stopped
    ('population', 0.857143, "gradient below 1e-09 of the zero predictor's risk")
    """
    key = jax.random.key(0) if key is None else key
    choice = choose(model, task, solver, objective)
    trainer = make_trainer(model, task, choice, key=jax.random.fold_in(key, 0), **settings)
    told: list[dict[str, Any]] = []

    with Display(choice.objective, lambda: References.of(task), quiet=not progress) as display:

        def tell(state: State, rows: list[dict[str, Any]]) -> None:
            del state
            told.extend(rows)
            display.show(rows)
            if on_rows is not None:
                on_rows(rows)

        state = to_end(trainer, each=tell)
    found = trainer.model(state)
    measured = risk(found, task, samples=samples, key=jax.random.fold_in(key, 1))
    return Trained(found, measured, choice, stop_reason(state), told)
