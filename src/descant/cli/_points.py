"""What a sweep asks at every point: the risk of a predictor, or of a model after its training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..sweeps import Evaluator, Fields, Outcome
from ._closed import Question, closed_answer
from ._task import TaskFlags

# Closed forms take milliseconds: so many make a second, which is what a worker may lose.
CLOSED_TOGETHER = 50


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


RISK_FIELDS = Fields({"task": TaskFlags, "model": PredictorFields, "measure": MeasureFields}, frozenset({"task.noise"}))


def _risk_shape(point: Mapping[str, Any]) -> str:
    """What is compiled, if anything is, depends on the laws and sizes."""
    return ", ".join(f"{name} {_kind(point[name])}" for name in ("model.name", "task.d", "task.n", *LAWS))


LAWS = ("task.prior", "task.inputs", "task.noise", "task.label_noise", "task.task")


def _kind(value: Any) -> str:
    """A law without its numbers."""
    return "fixed" if isinstance(value, float) else str(value).partition(":")[0]


def _risk(point: Mapping[str, Any]) -> Outcome:
    from ._risk import measured_answer

    predictor, measure = RISK_FIELDS.section(point, "model"), RISK_FIELDS.section(point, "measure")
    task = RISK_FIELDS.section(point, "task")
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


def _risks(points: list[Mapping[str, Any]]) -> list[Outcome]:
    return [_risk(point) for point in points]


RISK = Evaluator(
    reference="descant.cli._points:RISK",
    sentence="the risk of a predictor, of a class its best member's, as descant risk has it",
    completed=RISK_FIELDS.completed,
    shape=_risk_shape,
    run=_risks,
    together=CLOSED_TOGETHER,
)
