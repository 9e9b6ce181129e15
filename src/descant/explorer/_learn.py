"""The room Learn: a model is trained step by step, its risk beside the exact lines; and looked at on other tasks."""

import base64
import math
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..attention import load, make_model, to_bytes
from ..figures import Axis, Baseline, Figure, Panel, Series, drawing
from ..measure import Risk, best, risk
from ..tasks import AbstractTask
from ..training import choose, make_trainer, stop_reason
from ._fields import Fields
from ._learn_python import (
    BEST,
    LEAST,
    LINES,
    ORACLE,
    OWN,
    STEP,
    elsewhere_python,
    elsewhere_title,
    learn_python,
    learn_title,
)
from ._task import Task
from ._training import LOOK, MOST_D, SAMPLES, Training, known_risk

# Seconds between two pictures.
EVERY_S = 0.04
# Points of the curve that are drawn; of more, every other one.
MOST_POINTS = 400
AXES = {
    "n": ("context length n", (2, 4, 7, 10, 15, 20, 30, 50, 80, 120), True),
    "mean": ("prior mean", (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0), False),
    "noise": ("noise level σ", (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0), False),
    "condition": ("input condition number", (1.0, 2.0, 4.0, 8.0, 16.0, 32.0), True),
}


def learn(asked: Any) -> Iterator[dict[str, Any]]:
    """Train; the curve as it grows, and at the end the weights."""
    training = Training.read(asked)
    yield from _train(training)


def weights_of(asked: Any) -> Iterator[dict[str, Any]]:
    """The model of a training, as the event `model`: from its weights, if somebody has kept them, or trained anew."""
    fields = Fields(asked, "the source")
    training = Training.read(fields.part("training"))
    kept = fields.text("weights", 1 << 26, "")
    if kept:
        yield {"event": "model", "weights": kept}
        return
    for event in _train(training):
        yield {"event": "progress", "words": event["words"], "share": event["share"]}
        if event["event"] == "trained":
            yield {"event": "trained", **{name: event[name] for name in ("weights", "words", "share")}}
            yield {"event": "model", "weights": event["weights"]}


def opened(weights: str) -> Any:
    """A model from the text that its weights travel as."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(base64.b64decode(weights))
        return load(path)


def elsewhere(asked: Any) -> Iterator[dict[str, Any]]:
    """The trained model on another task, and along one number of it; the best of its class there, and the oracle."""
    fields = Fields(asked, "the question")
    source, other = fields.part("source"), Task.read(fields.part("task"), MOST_D)
    axis = fields.choice("axis", tuple(AXES), "n")
    fields.done()
    training = Training.read(Fields(source, "the source").part("training"))
    if other.d != training.task.d and training.model not in ("gd++", "diag"):
        raise ValueError(f"d is {other.d}; expected {training.task.d}, for which this model was made.")
    if axis in other.fixed:
        raise ValueError(f"axis is {axis!r}, which the spectrum {other.spectrum} has already; choose another.")
    model: Any = None
    for event in weights_of(source):
        if event["event"] == "model":
            model = opened(event["weights"])
        else:
            yield event
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LINES}

    def look(task: Task) -> tuple[Risk, float | None, Risk]:
        regression = task.regression()
        lowest = training.optimum(regression) if task.isotropic or task.d <= 3 else None
        oracle = risk(best("ridge", regression), regression, samples=LOOK)
        return risk(model, regression, samples=LOOK), lowest, oracle

    here = look(other)
    at = {
        "risk": _number(here[0].value),
        "error": here[0].standard_error,
        "best": here[1],
        "oracle": here[2].value,
        "oracle_error": here[2].standard_error,
    }
    label, grid, log = AXES[axis]
    places = sorted({*map(float, grid), other.at(axis)})
    for x in places:
        now, lowest, oracle = here if x == other.at(axis) else look(other.with_(axis, x))
        found[OWN].append((x, now.value, now.standard_error))
        found[ORACLE].append((x, oracle.value, oracle.standard_error))
        if lowest is not None:
            found[BEST].append((x, lowest, 0.0))
        panel = _panel(found, label, log, other)
        python = elsewhere_python(training, other, axis, places, panel)
        figure = Figure(f"elsewhere-{axis}", elsewhere_title(training), "", (panel,), columns=1)
        yield {"event": "elsewhere", "figure": {**drawing(figure), "python": python}, **at}


def _panel(found: dict, label: str, log: bool, other: Task) -> Panel:
    series = []
    for name, points in found.items():
        if points:
            x, y, error = zip(*points, strict=True)
            series.append(Series(name, x, y, error, LINES[name]))
    # A network that explodes there must not hide the rest.
    most = 1.3 * max(y for x, y, _ in found[ORACLE]) + 1.5 * float(_signal(other))
    worst = max((y for _, y, _ in found[OWN] if math.isfinite(y)), default=0.0)
    limits = (0.0, most) if worst > most else None
    return Panel("", Axis(label, log=log), Axis("risk", limits=limits), tuple(series))


def _signal(task: Task) -> float:
    problem = task.problem()
    return problem.signal + problem.size(problem.mean)


def _train(training: Training) -> Iterator[dict[str, Any]]:
    task, key = training.task.regression(), jax.random.key(training.seed)
    start = make_model(training.model, task, key=jax.random.fold_in(key, 2), **training.options)
    choice = choose(start, task, training.solver)
    if choice.record.name == "adam" and training.solver == "auto":
        raise ValueError(f"{training.model} is trained by Adam alone here: {choice.reason}; choose Adam.")
    trainer = make_trainer(start, task, choice, key=jax.random.fold_in(key, 0), **training.settings)
    lines = _lines(training, task)
    curve: list[tuple[float, float, float]] = []
    state, drawn, number = trainer.init(), 0.0, 0
    began = time.monotonic()
    first = risk(start, task, samples=LOOK)
    curve.append((0.0, first.value, first.standard_error))
    yield _progress(training, curve, lines, "begun", 0.0)
    while not trainer.finished(state):
        state, rows = trainer.advance(state)
        row = rows[-1] if rows else {"progress": 0.0}
        number += 1
        if time.monotonic() - drawn < EVERY_S and not trainer.finished(state):
            continue
        drawn = time.monotonic()
        now = risk(trainer.model(state), task, samples=LOOK)
        curve.append((float(row.get("step", number)), now.value, now.standard_error))
        if len(curve) > MOST_POINTS:
            curve[:] = [*curve[:-1:2], curve[-1]]
        words = f"step {row['step']}" if "step" in row else f"part {number}"
        if not math.isfinite(now.value):
            raise ValueError(f"the training diverges ({words}); try a smaller step size, or another seed.")
        yield _progress(training, curve, lines, words, float(row["progress"]))
    model = trainer.model(state)
    # As `train` measures what came out.
    final = risk(model, task, samples=SAMPLES, key=jax.random.fold_in(key, 1))
    yield {
        **_progress(training, curve, lines, stop_reason(state), 1.0),
        "event": "trained",
        "weights": base64.b64encode(to_bytes(model)).decode(),
        "risk": _number(final.value),
        "error": final.standard_error,
        "method": final.method,
        "optimum": lines.get(LEAST),
        "seconds": time.monotonic() - began,
    }


def _progress(training: Training, curve: list, lines: dict[str, float], words: str, share: float) -> dict[str, Any]:
    x, y, error = (tuple(column) for column in np.array(curve).T.tolist())
    across = Axis("step" if training.solver == "adam" else "part of the training")
    highest = 1.1 * max(curve[0][1], *lines.values()) if lines else None
    # The first weights may be far worse than anything that follows.
    signal = 1.3 * float(_signal(training.task))
    limits = (0.0, min(highest, signal)) if highest and min(highest, signal) > max(lines.values()) else None
    baselines = tuple(Baseline(label, value) for label, value in lines.items())
    series = Series("this model", x, y, error if any(error) else (), "line")
    panel = Panel("", across, Axis("risk", limits=limits), (series,), baselines)
    figure = Figure("learn", learn_title(training), "", (panel,), columns=1)
    return {
        "event": "progress",
        "figure": {**drawing(figure), "python": learn_python(training, [*lines], panel)},
        "words": words,
        "share": share,
        "risk": _number(y[-1]),
        "error": error[-1],
    }


def _lines(training: Training, task: AbstractTask) -> dict[str, float]:
    """What the curve falls towards."""
    names = {
        LEAST: lambda: training.optimum(task),
        STEP: partial(known_risk, lambda: best("gd-beta", task), task),
        ORACLE: partial(known_risk, lambda: best("ridge", task), task),
    }
    found = {name: ask() for name, ask in names.items()}
    lines = {name: value for name, value in found.items() if value is not None and math.isfinite(value)}
    own, step = (lines.get(name) for name in (LEAST, STEP))
    if own is not None and own == step:
        del lines[STEP]
    return lines


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
