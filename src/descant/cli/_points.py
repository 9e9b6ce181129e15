"""What a sweep asks at every point: the risk of a predictor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..sweeps import Evaluator, Fields, Outcome
from ._closed import Question, closed_answer
from ._task import TaskFlags

# Closed forms take milliseconds: so many take a part of a second, which is what a worker may lose.
TOGETHER = 50
# Laws and sizes of a task, on which depends what is compiled.
LAWS = ("task.d", "task.n", "task.prior", "task.inputs", "task.noise", "task.label_noise", "task.task")


@dataclass(frozen=True, kw_only=True)
class PredictorFields:
    """A predictor as `descant risk` names it."""

    name: str
    heads: int | None = None
    query_masked: bool = True


@dataclass(frozen=True, kw_only=True)
class MeasureFields:
    """How risks are measured that have no closed form."""

    method: str = "auto"
    samples: int = 32_768
    seed: int = 0


FIELDS = Fields(
    {"task": (TaskFlags,), "model": (PredictorFields,), "measure": (MeasureFields,)}, frozenset({"task.noise"})
)


def law_shapes(point: Mapping[str, Any]) -> str:
    """The sizes and laws of a point's task, without the numbers of the laws."""
    words = [f"{name.removeprefix('task.')} {_kind(point[name])}" for name in LAWS if point[name] is not None]
    listed = [name for name in ("task.prior_mean", "task.input_spectrum") if isinstance(point[name], list)]
    return ", ".join([*words, *(f"{name.removeprefix('task.')} listed" for name in listed)])


def _kind(value: Any) -> str:
    return "fixed" if isinstance(value, float) else str(value).partition(":")[0]


def _shape(point: Mapping[str, Any]) -> str:
    return f"{point['model.name']}: {law_shapes(point)}"


def _risk(point: Mapping[str, Any]) -> Outcome:
    from .. import _check
    from ._risk import METHODS, measured_answer

    predictor = FIELDS.part(point, "model", PredictorFields)
    measure, task = FIELDS.part(point, "measure", MeasureFields), FIELDS.part(point, "task", TaskFlags)
    _check.one_of("measure.method", measure.method, METHODS)
    asked = Question(
        predictor.name,
        task,
        predictor.heads,
        predictor.query_masked,
        measure.method,
        measure.samples,
        measure.seed,
    )
    found = (closed_answer(asked, ()) or measured_answer(asked, ())).found
    return Outcome(
        value=found.value,
        standard_error=found.standard_error,
        method=found.method,
        theory=found.value if found.method == "exact" else None,
        reason=found.note,
    )


RISK = Evaluator(
    reference="descant.cli._points:RISK",
    sentence="the risk of a predictor, of a class its best member's, as descant risk has it",
    completed=FIELDS.completed,
    shape=_shape,
    run=lambda points: [_risk(point) for point in points],
    together=TOGETHER,
)
