"""A solver is one record: its trainer, what it can train, and which flags of the command line it takes."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._predictor import AbstractPredictor
from .._registry import Registry
from .._trainer import Trainer
from .._unknown import Unknown
from ..tasks import AbstractTask
from ._objective import natural_objective

# Flags of `descant train` that a solver may take as settings of its trainer.
FLAGS = ("steps", "batch", "lr")


def usual_objective(model: AbstractPredictor, task: AbstractTask, objective: str) -> str:
    """As asked; `auto` is the one with most integrated out that model and task allow."""
    return natural_objective(model, task) if objective == "auto" else objective


def _any(model: Any, task: AbstractTask) -> None:
    del model, task


@dataclass(frozen=True, kw_only=True)
class Solver:
    """One way of training.

    **Arguments:**

    - `name`: what it is called on the command line; `sentence`: what it does, for lists of solvers.
    - `make(model, task, *, objective, key, **settings)`: a `Trainer`. A class of one's own with such a constructor is a
      solver as it is: `train(..., solver=MyTrainer)`, `--solver my_module:MyTrainer`.
    - `flags`: flag of the command line to setting of the trainer; flags that are not among them are refused.
    - `many`: whether `make` also takes a list of models, to be trained at once.
    - `can(model, task)`: raises `Unknown`, with the reason, if it can't train this model on this task.
    - `suits(model, task, objective)`: why `auto` should take it, or None.
    - `objective(model, task, objective)`: the objective that it uses where this one is asked for.
    - `together(models, tasks, *, objective, keys, settings)`: train models of one kind and shape at once, each on its
      own task with its own key and settings; a list of each trained model with why it stopped. What comes of one must
      not depend on the others, to the last bit. None if it trains them one by one.

    >>> Solver(name="mine", sentence="not written yet", make=lambda model, task, *, objective, key: None).settings()
    {}
    """

    name: str
    sentence: str
    make: Callable[..., Trainer]
    flags: Mapping[str, str] = field(default_factory=dict)
    many: bool = False
    can: Callable[[AbstractPredictor, AbstractTask], None] = _any
    suits: Callable[[AbstractPredictor, AbstractTask, str], str | None] = lambda model, task, objective: None
    objective: Callable[[AbstractPredictor, AbstractTask, str], str] = usual_objective
    together: Callable[..., list[tuple[Any, str]]] | None = None

    def settings(self, **given: Any) -> dict[str, Any]:
        """Settings of the trainer from flags; None is left out, and a flag that the solver doesn't take is refused."""
        given = {name: value for name, value in given.items() if value is not None}
        for name in given:
            if name not in self.flags:
                taken = ", ".join(f"--{flag}" for flag in self.flags) or "none"
                raise ValueError(
                    f"--{name} means nothing to the solver {self.name}; leave it out, or use another. "
                    f"It takes: {taken}."
                )
        return {self.flags[name]: value for name, value in given.items()}


def as_solver(thing: Any) -> Solver:
    """A record itself, or that of a user's trainer: a class or function that is called as `Solver.make` is."""
    if isinstance(thing, Solver):
        return thing
    make: Any = thing
    if not callable(thing):
        raise ValueError(f"solver is {thing!r}; expected a Solver, or a class of trainers.")
    name, parameters = f"{thing.__module__}:{thing.__qualname__}", inspect.signature(thing).parameters
    missing = [each for each in ("objective", "key") if each not in parameters]
    if missing:
        raise ValueError(
            f"solver is {name}, which takes no {' and no '.join(missing)}; expected (model, task, *, objective, "
            "key, ...)."
        )
    sentence = (thing.__doc__ or thing.__qualname__).strip().partition("\n")[0]
    return Solver(name=name, sentence=sentence, make=make, flags={each: each for each in FLAGS if each in parameters})


# Solvers by name: ours, those of files, those of installed packages.
SOLVERS = Registry("solver", "descant.solvers", as_solver)


def able(solver: Solver, model: AbstractPredictor, task: AbstractTask) -> bool:
    """Whether a solver can train this model on this task."""
    try:
        solver.can(model, task)
    except Unknown:
        return False
    return True
