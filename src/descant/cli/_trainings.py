"""What a sweep asks at every point: the risk of a model after its training, points of one shape trained together."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..sweeps import Evaluator, Fields, Outcome
from ._beginning import KindBeginning
from ._config import ModelFlags, SolverFlags, StartFlags
from ._points import law_shapes
from ._task import TaskFlags

if TYPE_CHECKING:
    from ..training import Choice

# A worker loses so many trainings at most.
TOGETHER = 32


@dataclass(frozen=True, kw_only=True)
class KindFields:
    """A kind of model, as `descant train` names it; its options stand beside."""

    name: str


@dataclass(frozen=True, kw_only=True)
class TrainingFields:
    """How a model is trained, and the seed of everything; settings of the solver stand beside."""

    solver: str = "auto"
    objective: str = "auto"
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class FreshFields:
    """Fresh contexts on which a trained model is measured whose risk has no closed form."""

    samples: int = 65_536


FIELDS = Fields(
    {
        "task": (TaskFlags,),
        "model": (KindFields, ModelFlags),
        "training": (TrainingFields, SolverFlags),
        "measure": (FreshFields,),
    },
    frozenset({"task.noise"}),
)
# Fields that are numbers of a compiled program, not part of it.
NUMBERS = ("training.seed", "training.lr")


def _shape(point: Mapping[str, Any]) -> str:
    """Whatever is not a number of the program."""
    own = [
        f"{name.partition('.')[2]} {value}"
        for name, value in point.items()
        if name.startswith(("model.", "training.")) and name not in NUMBERS and value is not None
    ]
    return f"{', '.join(own)}; {law_shapes(point)}"


@dataclass(frozen=True)
class _Training:
    """A point, ready to be trained."""

    beginning: KindBeginning
    choice: "Choice"
    settings: dict[str, Any]
    key: Any
    samples: int

    @classmethod
    def of(cls, point: Mapping[str, Any]) -> "_Training":
        import jax

        kind, options = FIELDS.part(point, "model", KindFields), FIELDS.part(point, "model", ModelFlags)
        how, flags = FIELDS.part(point, "training", TrainingFields), FIELDS.part(point, "training", SolverFlags)
        task, key = FIELDS.part(point, "task", TaskFlags).build(), jax.random.key(how.seed)
        beginning = KindBeginning.of(kind.name, options, StartFlags(), task, key)
        choice = beginning.choose(how.solver, how.objective)
        if choice.record.many and flags.seeds > 1:
            raise ValueError(f"training.seeds is {flags.seeds}; in a sweep make an axis of training.seed instead.")
        return cls(beginning, choice, beginning.settings(choice, flags), key, point["measure.samples"])

    def measured(self, model: Any, stopped: str) -> Outcome:
        """The risk of the trained model, beside the least of its class where theory knows it."""
        import jax

        from ..measure import risk

        found = risk(model, self.beginning.task, samples=self.samples, key=jax.random.fold_in(self.key, 2))
        if not math.isfinite(found.value):
            return Outcome.failed(
                f"the risk of the trained model is {found.value}: it overflows; try other weights (training.seed), a "
                "smaller step (training.lr), or a task of smaller numbers."
            )
        return Outcome(
            value=found.value,
            standard_error=found.standard_error,
            method=found.method,
            theory=self.beginning.known_optimum(),
            reason=found.note,
            more={"solver": self.choice.solver, "stopped": stopped},
        )


def _trained(points: list[Mapping[str, Any]]) -> list[Outcome]:
    import jax

    from ..training import train_together

    trainings = [_Training.of(point) for point in points]
    ends = train_together(
        [each.beginning.start for each in trainings],
        [each.beginning.task for each in trainings],
        trainings[0].choice,
        keys=[jax.random.fold_in(each.key, 1) for each in trainings],
        settings=[each.settings for each in trainings],
    )
    return [each.measured(*end) for each, end in zip(trainings, ends, strict=True)]


TRAIN = Evaluator(
    reference="descant.cli._trainings:TRAIN",
    sentence="the risk of a model after its training, as descant train has it",
    completed=FIELDS.completed,
    shape=_shape,
    run=_trained,
    together=TOGETHER,
)
