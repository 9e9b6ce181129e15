"""Softmax transformers: does the MLP matter when tasks have a mean? (Table 1)"""

from typing import Any

import numpy as np

from ...theory import Problem, best_heads, gd_beta_minimum
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._blocks import MEANS, MLPS, block_risks, setting
from ._problems import isotropic

NAMES = {"none": "without MLP", "relu": "with MLP"}
# "Much larger" as a number.
MUCH = 2.0
# A training whose loss falls by more than this share over its second half is not over.
CONVERGED = 0.01


def _still_falling(found: dict[str, Any], member: int) -> float:
    """How much the training loss fell over the second half of the training."""
    losses = [row[1 + member] for row in found["curve"]]
    tail = max(1, len(losses) // 20)
    return max(0.0, float(np.mean(losses[len(losses) // 2 :][:tail]) - np.mean(losses[-tail:])))


@claim(
    "softmax-blocks",
    paper="ltb",
    where="Table 1",
    title="Softmax transformers need the MLP too, when tasks have a mean",
    statement=r"""
        A GPT-2 style transformer learns in-context linear regression with and without MLP if tasks are centred at zero.
        With the prior mean $(10, \dots, 10)$ it still does with MLP, and is much worse without.
    """,
    refuted_by="Converged networks without MLP that are less than twice as bad at the large mean, "
    "or as bad at mean zero.",
    method=r"""
        Softmax attention, pre-norm, with no MLP or a ReLU MLP of four times the width, trained by Adam on fresh prompts
        without noise. "Much worse" is a factor of two; "still does" is a risk below that of the best linear block. A
        training that is still under way decides nothing: if the loss fell by more than 1 % over the second half of the
        training, the result is given a standard error of its own size. The numbers of the printed table could not be
        read.
    """,
    quick="d = 3, n = 8, two layers of width 32, 1,500 steps: too short a training to decide",
    full="on a GPU the paper's setting (d = 20, n = 40, 6 layers, 200,000 steps); on a CPU d = 5, n = 10, "
    "3 layers, 60,000 steps",
    seconds=60,
)
def softmax_blocks(lab: Lab) -> Evidence:
    """Risks by prior mean, with and without MLP."""
    size = setting(lab)
    found = {mlp: block_risks(lab, mlp) for mlp in MLPS}
    problems = [Problem.of(isotropic(size.d, size.n, mean)) for mean in MEANS]
    linear = [float(gd_beta_minimum(problem)) for problem in problems]
    attention = [best_heads(problem, 1).risk for problem in problems]
    values: dict[tuple[str, int], tuple[float, float]] = {}
    rows = []
    for mlp in MLPS:
        for member, mean in enumerate(MEANS):
            value, sampling = found[mlp]["risks"][member]
            falling = _still_falling(found[mlp], member)
            done = falling < CONVERGED * value
            values[mlp, member] = value, float(np.hypot(sampling, falling)) if done else value
            rows.append((f"softmax, {NAMES[mlp]}", mean, value, sampling, falling, value / size.d))
    for member, mean in enumerate(MEANS):
        rows.append(("best LTB (exact)", mean, linear[member], None, None, linear[member] / size.d))
        rows.append(("best LSA (exact)", mean, attention[member], None, None, attention[member] / size.d))
    (low, high) = (_ratio(values["none", member], values["relu", member]) for member in range(2))
    with_mlp, error = values["relu", 1]
    reason = (
        "A factor of two is what we call much larger. "
        "Where a training is not over, the error is as large as the result."
    )
    checks = (
        at_least(f"without / with MLP at prior mean {MEANS[1]:g}", high[0], MUCH, error=high[1], reason=reason),
        at_most(f"without / with MLP at prior mean {MEANS[0]:g}", low[0], MUCH, error=low[1], reason=reason),
        at_most(
            f"risk with MLP at prior mean {MEANS[1]:g} beside the best linear block",
            with_mlp,
            linear[1],
            error=error,
            reason="To still learn in context is to do at least what one linear step does.",
        ),
    )
    panels = tuple(
        Panel(
            f"prior mean {mean:g}",
            Axis("step of Adam"),
            Axis("training loss (mean squared error)", log=True),
            tuple(
                Series(
                    NAMES[mlp],
                    tuple(row[0] for row in found[mlp]["curve"]),
                    tuple(row[1 + member] for row in found[mlp]["curve"]),
                    style="line",
                )
                for mlp in MLPS
            ),
            (Baseline("best LTB", linear[member]), Baseline("best LSA", attention[member])),
        )
        for member, mean in enumerate(MEANS)
    )
    figure = Figure(
        "softmax-blocks",
        f"Softmax transformers on tasks with a mean: d = {size.d}, n = {size.n}, {size.depth} layers",
        "Training losses of fresh batches, beside the least risks of the linear models. Curves that still fall at "
        "their end decide nothing.",
        panels,
    )
    table = Table(
        "softmax-blocks",
        "Risks after training",
        ("model", "prior mean", "risk", "±", "fell in the second half", "risk / tr(ΛΨ)"),
        tuple(rows),
        "In the last column 1 is what predicting with the prior mean alone would cost.",
    )
    words = (f"Setting of this run: {size.name} ({size.steps:,} steps, batches of {size.batch}, width {size.width}).",)
    return Evidence(checks, (figure,), (table,), words)


def _ratio(top: tuple[float, float], bottom: tuple[float, float]) -> tuple[float, float]:
    ratio = top[0] / bottom[0]
    return ratio, ratio * float(np.hypot(top[1] / top[0], bottom[1] / bottom[0]))
