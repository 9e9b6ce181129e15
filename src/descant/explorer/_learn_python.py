"""The Python of the figures of the room Learn: a training and what it falls towards, and the model on other tasks."""

import textwrap
from typing import Any

from ..figures import Panel
from ._python import written
from ._task import Task
from ._training import LOOK, Training

# The lines that a training falls towards; and what is drawn on other tasks, and how.
LEAST, STEP = "least of its class", "one step from the prior mean (LTB, GD-β)"
OWN, BEST, ORACLE = "this model", "best of its class", "oracle ridge"
LINES: dict[str, Any] = {OWN: "both", BEST: "line", ORACLE: "dashed"}


def learn_title(training: Training) -> str:
    """Of the curve of a training."""
    return f"Training {training.model} on {training.task.flags().replace('--', '')}"


def elsewhere_title(training: Training) -> str:
    """Of a trained model on other tasks."""
    return f"{training.model} trained on {training.task.flags().replace('--', '')}, on other tasks"


def learn_python(training: Training, lines: list[str], panel: Panel) -> str:
    """The program that draws the same curve, with a point for every look, beside the same lines."""
    expressions = {LEAST: training.best_python(), STEP: 'best("gd-beta", task)', ORACLE: 'best("ridge", task)'}
    known = "".join(f'    "{name}": {expressions[name]},\n' for name in lines)
    computed = f"""{training.curve_python()}
x, y, error = zip(*((at, found.value, found.standard_error) for at, found in curve))
series = (Series("this model", x, y, error if any(error) else (), "line"),)
lines = {{
{known}}}
baselines = tuple(Baseline(label, risk(model, task, samples={LOOK}).value) for label, model in lines.items())
axes = Axis("{panel.x.label}"), Axis("risk", limits={panel.y.limits})
"""
    drawn = f'Figure("learn", "{learn_title(training)}", "", (Panel("", *axes, series, baselines),), columns=1)'
    return written(computed, drawn, "learn")


def elsewhere_python(training: Training, other: Task, axis: str, places: list[float], panel: Panel) -> str:
    """The program that trains the same model, measures it along the same axis, and draws that."""
    numbers = ", ".join(str(round(x)) if axis == "n" else repr(x) for x in places)
    task = textwrap.indent(f"task = {other.python(**{axis: 'x'})}", "    ")
    least = training.best_python() if any(each.label == BEST for each in panel.series) else ""
    known = f"""    try:
        curves["{BEST}"].append((x, risk({least}, task, samples={LOOK}).value, 0.0))
    except Unknown:
        pass
""" if least else ""  # fmt: skip
    computed = f"""{training.python()}
curves = {{{", ".join(f'"{name}": []' for name in LINES)}}}
for x in [{numbers}]:
{task}
    for label, model in (("{OWN}", trained.model), ("{ORACLE}", best("ridge", task))):
        found = risk(model, task, samples={LOOK})
        curves[label].append((x, found.value, found.standard_error))
{known}
styles = {LINES!r}
series = tuple(Series(name, *zip(*points), styles[name]) for name, points in curves.items() if points)
axes = Axis("{panel.x.label}", log={panel.x.log}), Axis("risk", limits={panel.y.limits})
"""
    drawn = f'Figure("elsewhere-{axis}", "{elsewhere_title(training)}", "", (Panel("", *axes, series),), columns=1)'
    return written(computed, drawn, f"elsewhere-{axis}")
