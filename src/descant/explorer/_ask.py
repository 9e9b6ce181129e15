"""The room Ask: exact risks of all classes along one number of the task, as curves, and at the sliders, as a table."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..figures import Axis, Figure, Panel, Series, drawing
from ._ask_python import ask_python, ask_title
from ._classes import CLASSES, SYMBOLS, Class, Value, value_of
from ._fields import Fields
from ._task import MOST_D, Task

# What may stand on the axis across: its label, its ends, whether it is logarithmic.
AXES = {
    "n": ("context length n", 1.0, 200.0, True),
    "d": ("input dimension d", 1.0, float(MOST_D), False),
    "heads": ("heads H", 1.0, 0.0, False),
    "mean": ("prior mean, in each coordinate", 0.0, 4.0, False),
    "noise": ("noise level σ", 0.0, 4.0, False),
    "condition": ("input condition number", 1.0, 100.0, True),
}
# Points of a curve while a slider is moved, and when it rests.
MOVING, RESTING = 6, 25
# The ordinate ends a little above the zero predictor: least squares may be far beyond.
HEADROOM = 1.12


@dataclass(frozen=True)
class Question:
    """What the sliders of the room are at."""

    task: Task
    heads: int
    axis: str = "n"
    log: bool = False
    moving: bool = False

    @classmethod
    def read(cls, raw: Any) -> "Question":
        """The question of a request."""
        fields = Fields(raw, "the question")
        task = Task.read(fields.part("task"))
        heads = fields.whole("heads", 1, MOST_D + 1)
        found = cls(
            task,
            min(heads, task.d + 1),
            fields.choice("axis", tuple(AXES), "n"),
            fields.switch("log"),
            fields.switch("moving"),
        )
        fields.done()
        if found.axis in task.fixed:
            raise ValueError(f"axis is {found.axis!r}, which the spectrum {task.spectrum} has already; choose another.")
        return found

    def grid(self) -> list[float]:
        """The numbers at which the curves are known."""
        _, low, high, log = AXES[self.axis]
        if self.axis in ("heads", "d"):
            return [float(each) for each in range(1, int(high or self.task.d + 1) + 1)]
        points = MOVING if self.moving else RESTING
        found = np.geomspace(low, high, points) if log else np.linspace(low, high, points)
        found = np.append(found, self.task.at(self.axis))
        # Digits that a person can read off, and that are whole where they count something.
        rounded = found.round() if self.axis == "n" else np.array([float(f"{value:.4g}") for value in found])
        return sorted(set(rounded.tolist()))

    def at(self, x: float) -> tuple[Task, int]:
        """The task and the number of heads at a point of the axis."""
        if self.axis == "heads":
            return self.task, int(x)
        task = self.task.with_(self.axis, x)
        return task, min(self.heads, task.d + 1)

    @property
    def here(self) -> float:
        """Where on the axis the sliders are."""
        return float(self.heads) if self.axis == "heads" else self.task.at(self.axis)


def answer(question: Question) -> dict[str, Any]:
    """Everything that has a formula: within the time of a slider's move."""
    curves = {name: _curve(question, each) for name, each in CLASSES.items()}
    return _told(question, curves)


def search(asked: Any) -> Iterator[dict[str, Any]]:
    """All of it, also what is found by descent: points as they are found, those at the sliders first."""
    question = Question.read(asked)
    curves = {name: _curve(question, each) for name, each in CLASSES.items()}
    yield {"event": "answer", **_told(question, curves)}
    wanted = sorted(question.grid(), key=lambda x: abs(_place(question, x) - _place(question, question.here)))
    for x in wanted[:1] + wanted[1::2] + wanted[2::2]:
        new = False
        for name, each in CLASSES.items():
            task, heads = question.at(x)
            if each.searched(task, heads):
                curves[name][x], new = value_of(name, task, heads), True
        if new:
            yield {"event": "answer", **_told(question, curves)}


def _place(question: Question, x: float) -> float:
    return math.log(max(x, 1e-9)) if AXES[question.axis][3] else x


def _curve(question: Question, each: Class) -> dict[float, Value | None]:
    found = {}
    for x in question.grid():
        task, heads = question.at(x)
        if not each.searched(task, heads):
            found[x] = value_of(each.name, task, heads)
    return found


def _told(question: Question, curves: dict[str, dict[float, Value | None]]) -> dict[str, Any]:
    here, rows = question.here, []
    for name, each in CLASSES.items():
        task, heads = question.at(here)
        pending = each.searched(task, heads) and here not in curves[name]
        # The sliders' own numbers, also where the axis has rounded ones.
        value = None if pending else value_of(name, task, heads)
        rows.append(
            {
                "name": name,
                "label": each.named(question.heads),
                "risk": _finite(value.risk) if value else None,
                "error": value.error if value else 0.0,
                "words": "searching" if pending else _words(value),
                "about": each.about,
                "formula": each.formula,
            }
        )
    left = sum(
        len([x for x in question.grid() if each.searched(*question.at(x)) and x not in curves[name]])
        for name, each in CLASSES.items()
    )
    panel = _panel(question, curves)
    figure = Figure("ask", ask_title(question.task), "", (panel,), columns=1)
    return {
        "figure": {**drawing(figure), "python": ask_python(question, panel)},
        "rows": rows,
        "symbols": SYMBOLS,
        "left": left,
        "command": f"descant risk lsa {question.task.flags()}",
    }


def _words(value: Value | None) -> str:
    if value is None:
        return "not known"
    if math.isinf(value.risk):
        return "infinite"
    return f"± {value.error:.1g}" if value.error else "exact"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _panel(question: Question, curves: dict[str, dict[float, Value | None]]) -> Panel:
    label, _, _, log = AXES[question.axis]
    series, dots = [], []
    zero = max((value.risk for value in curves["zero"].values() if value is not None), default=0.0)
    limit = HEADROOM * zero if zero and not question.log else math.inf
    for name, each in CLASSES.items():
        found = {x: value for x, value in sorted(curves[name].items()) if value is not None}
        if not found:
            continue
        title, family = each.named(question.heads), CLASSES[each.family or name].named(question.heads)
        style = "dashed" if each.dashed else "line"
        for index, part in enumerate(_parts(found, limit)):
            errors = tuple(value.error for value in part.values()) if any(each.error for each in part.values()) else ()
            risks = tuple(value.risk for value in part.values())
            series.append(Series(title, tuple(part), risks, errors, style, family, listed=index == 0))
        if question.here in found:
            at = found[question.here]
            dots.append(Series(title, (question.here,), (at.risk,), style="points", family=family, listed=False))
    limits = (0.0, limit) if math.isfinite(limit) else None
    return Panel("", Axis(label, log=log), Axis("risk", log=question.log, limits=limits), (*series, *dots))


def _parts(found: dict[float, Value], limit: float) -> list[dict[float, Value]]:
    """A curve in pieces: no line leads across values that are infinite, or beyond the axis."""
    parts: list[dict[float, Value]] = [{}]
    for x, value in found.items():
        if math.isfinite(value.risk) and value.risk <= limit:
            parts[-1][x] = value
        elif parts[-1]:
            parts.append({})
    return [part for part in parts if part]
