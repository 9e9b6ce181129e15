"""The Python of the figure of the room Ask: the same closed forms, along the same axis, as the same curves."""

from typing import TYPE_CHECKING

from ..figures import Panel
from ._classes import CLASSES
from ._python import written
from ._task import IMPORTS, Task

if TYPE_CHECKING:
    from ._ask import Question

# Beyond any risk that can be drawn.
EVERYTHING = 1e300


def ask_title(task: Task) -> str:
    """Of the curves of a task."""
    return f"Exact risks, {task.flags().replace('--', '')}"


def ask_python(question: "Question", panel: Panel) -> str:
    """The program that computes the curves of a panel, and draws them."""
    axis, heads = question.axis, question.heads
    places = ", ".join(f"{x:g}" if axis in ("n", "d", "heads") else repr(x) for x in question.grid())
    made = question.task.python(**({} if axis == "heads" else {axis: "x"})).replace("\n", "\n    ")
    named = {each.name: each.named(heads) for each in CLASSES.values()}
    classes = "".join(f'    "{named[each.name]}": lambda problem, heads: {each.python},\n' for each in CLASSES.values())
    dashed = "".join(f'    "{named[each.name]}": "{named[each.family]}",\n' for each in CLASSES.values() if each.dashed)
    limit = panel.y.limits[1] if panel.y.limits else EVERYTHING
    computed = f"""from itertools import groupby

{IMPORTS}from descant import Unknown
from descant.figures import Axis, Figure, Panel, Series
from descant.forms import gd_beta_minimum, least_risk, lsa_gap_bounds, oracle_risk, saturated_risk
from descant.theory import Problem

# The risk of each class, and its standard error: 0 where it is exact.
classes = {{
{classes}}}
curves = {{label: [] for label in classes}}
for x in [{places}]:
    task = {made}
    problem = Problem.of(task)
    for label, ask in classes.items():
        try:
            risk, error = ask(problem, min({"x" if axis == "heads" else heads}, task.d + 1))
        except Unknown:
            continue
        curves[label].append((x, float(risk), error))

# Dashed lines have the colour of the class that they belong to.
dashed = {{
{dashed}}}
lines, dots = [], []
for label, points in curves.items():
    style, family = ("dashed", dashed[label]) if label in dashed else ("line", label)
    # No line leads across what is infinite, or beyond the axis.
    parts = [list(part) for drawn, part in groupby(points, lambda point: point[1] <= {limit!r}) if drawn]
    for index, part in enumerate(parts):
        x, y, error = zip(*part)
        lines.append(Series(label, x, y, error if any(error) else (), style, family, listed=index == 0))
    dots += [Series(label, (x,), (y,), (), "points", family, False) for x, y, _ in points if x == {question.here!r}]
axes = Axis("{panel.x.label}", log={panel.x.log}), Axis("risk", log={panel.y.log}, limits={panel.y.limits})
"""
    drawn = f'Figure("ask", "{ask_title(question.task)}", "", (Panel("", *axes, (*lines, *dots)),), columns=1)'
    return written(computed, drawn, "ask")
