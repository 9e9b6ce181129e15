"""Softmax transformers: does the MLP matter when tasks have a mean? (Table 1)"""

import time
from typing import Any, NamedTuple

import numpy as np

from ...theory import Problem, best_heads, gd_beta_minimum
from .. import (
    CONTROL,
    Axis,
    Baseline,
    Check,
    Evidence,
    Figure,
    Lab,
    Panel,
    Series,
    Table,
    at_least,
    at_most,
    claim,
    long_run,
    mean_over,
    paired,
    write_long_run,
)
from ._blocks import MEANS, MLPS, Setting, all_trained, members, setting
from ._problems import isotropic

NAME = "softmax-blocks"
NAMES = {"none": "without MLP", "relu": "with MLP"}
# "Much larger" as a number.
MUCH = 2.0
# A training whose loss falls by more than this share over its second half is not over.
CONVERGED = 0.02


class Levels(NamedTuple):
    """What linear models reach on the same task: a block, and attention alone with as many heads."""

    block: float
    attention: float

    def attainable(self, mlp: str) -> float:
        """What a network of its kind must have come down to before its training can be said to have ended."""
        return self.attention if mlp == "none" else self.block


def levels(size: Setting, mean: float) -> Levels:
    """Least exact risks of one linear layer."""
    problem = Problem.of(isotropic(size.d, size.n, mean))
    return Levels(float(gd_beta_minimum(problem)), best_heads(problem, size.heads).risk)


def still_falling(curve: list[list[float]], member: int) -> float:
    """By how large a share the training loss fell over the second half of the training."""
    losses = np.array([row[1 + member] for row in curve])
    tail = max(1, len(losses) // 20)
    middle, end = losses[len(losses) // 2 :][:tail].mean(), losses[-tail:].mean()
    return float(max(0.0, 1 - end / middle))


def evidence_of(lab: Lab) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
    """The networks' numbers: trained at the full budget; else from the long run that was shipped, if one was."""
    shipped = long_run(NAME) if lab.budget == "quick" else None
    if shipped is not None:
        return shipped.numbers, (shipped.note,)
    began = time.monotonic()
    numbers = all_trained(lab, setting(lab))
    if lab.budget == "full":
        # Ready to be shipped: the folder belongs beside the other long runs.
        write_long_run(
            NAME, command="descant reproduce softmax-blocks --budget full", seconds=time.monotonic() - began,
            numbers=numbers, home=lab.folder / "long_runs",
        )  # fmt: skip
    return numbers, ()


WAITING = (
    "A training that can decide takes a GPU: the paper's setting is 200,000 steps, and what shorter ones show depends "
    "on when it is stopped. At this budget tiny networks are trained for a moment, so that the experiment is seen to "
    "run."
)


@claim(
    "softmax-blocks",
    paper="ltb",
    whose="paper",
    seen="transcription",
    where="Table 1",
    title="Softmax transformers need the MLP too, when tasks have a mean",
    statement=r"""
        A GPT-2 style transformer learns in-context linear regression with and without MLP if tasks are centred at zero.
        With the prior mean $(10, \dots, 10)$ it still does with MLP, and is much worse without. (Isotropic Gaussian
        inputs and tasks, no noise.)
    """,
    refuted_by={
        "zero": "Trained networks, with or without MLP, that are worse at mean zero than one linear step.",
        "with": "Trained networks with MLP that are worse at the large mean than the best linear block.",
        "without": "Trained networks without MLP that are less than twice as bad as with MLP at the large mean.",
    },
    method=r"""
        Softmax attention, pre-norm, with no MLP or a ReLU MLP of four times the width, trained by Adam on fresh prompts
        without noise: several seeds, two widths, because the paper's is not stated. "Learns" is a risk below that of
        the best single linear step, "much worse" a factor of two, over seeds by $t$ quantiles. The numbers of the
        printed table could not be read.

        A training counts as ended only if its loss has stopped falling *and* it has come down to what one layer of its
        kind is known to reach: a linear block with MLP, linear self-attention of as many heads without. So a plateau
        above what is attainable, before a drop that was not waited for, decides nothing.
    """,
    quick="the long run that comes with the package; without one, networks too small and short to decide",
    full="on a GPU the paper's setting (d = 20, n = 40, 6 layers, 200,000 steps, 4 seeds, widths 64 and 128); on a CPU "
    "d = 5, n = 10, 3 layers, 60,000 steps, 3 seeds, widths 32 and 64",
    seconds=20,
)
def softmax_blocks(lab: Lab) -> Evidence:
    """Risks by prior mean, with and without MLP."""
    numbers, notes = evidence_of(lab)
    size = Setting(**{**numbers["setting"], "widths": tuple(numbers["setting"]["widths"])})
    found, linear = numbers["found"], {mean: levels(size, mean) for mean in MEANS}
    checks: list[Check] = []
    rows: list[tuple[Any, ...]] = []
    for width in size.widths:
        risks = {}
        for mlp in MLPS:
            network = found[mlp][str(width)]
            for mean in MEANS:
                places = [index for index, member in enumerate(members(size)) if member[0] == mean]
                values = [network["risks"][place][0] for place in places]
                risks[mlp, mean] = values
                falling = max(still_falling(network["curve"], place) for place in places)
                over = mean_over(values)
                rows.append(
                    (f"{NAMES[mlp]}, width {width}", mean, over.value, over.error, falling, over.value / size.d)
                )
                checks += _ended(f"{NAMES[mlp]}, width {width}, mean {mean:g}", max(values), falling,
                                 linear[mean].attainable(mlp))  # fmt: skip
        checks += _judged(width, risks, linear)
    for mean, level in linear.items():
        rows.append(("best linear block", mean, level.block, None, None, level.block / size.d))
        rows.append((f"best linear attention, {size.heads} heads", mean, level.attention, None, None,
                     level.attention / size.d))  # fmt: skip
    table = Table(
        "softmax-blocks",
        "Risks after training",
        ("model", "prior mean", "risk", "±", "largest fall in the second half", "risk / tr(ΛΨ)"),
        tuple(rows),
        "Means over seeds. In the last column 1 is what predicting with the prior mean alone would cost.",
    )
    words = (
        *(() if notes else (WAITING,)),
        f"Setting: {size.name} (d = {size.d}, n = {size.n}, {size.depth} layers, {size.steps:,} steps, batches of "
        f"{size.batch}, {size.seeds} seeds).",
    )
    headline = next(check.name for check in checks if check.against == "without")
    return Evidence(tuple(checks), (_figure(size, found, linear),), (table,), words, headline, notes)


def _ended(name: str, worst: float, falling: float, attainable: float) -> list[Check]:
    return [
        at_most(
            f"share by which the loss fell in the second half, {name}, worst seed",
            falling, CONVERGED, against=CONTROL, reason="A training that is still falling decides nothing.",
        ),
        at_most(
            f"risk over what one layer of its kind reaches, {name}, worst seed",
            worst / attainable, 1.0, against=CONTROL,
            reason="A plateau above what is attainable is no end, however long it is.",
        ),
    ]  # fmt: skip


def _judged(width: int, risks: dict[tuple[str, float], list[float]], linear: dict[float, Levels]) -> list[Check]:
    zero, large = MEANS
    ratio = paired(np.log(risks["none", large]), np.log(risks["relu", large]))
    checks = [
        at_least(
            f"log of without over with MLP, width {width}, mean {large:g}",
            ratio.value, float(np.log(MUCH)), error=ratio.error, freedom=ratio.freedom, against="without",
            reason="A factor of two is what we call much worse; over seeds.",
        )
    ]  # fmt: skip
    for mlp, mean, key in (("none", zero, "zero"), ("relu", zero, "zero"), ("relu", large, "with")):
        over = mean_over(risks[mlp, mean])
        checks.append(
            at_most(
                f"risk over the best linear block's, {NAMES[mlp]}, width {width}, mean {mean:g}",
                over.value / linear[mean].block, 1.0, error=over.error / linear[mean].block, freedom=over.freedom,
                against=key, reason="To learn in context is to do at least what one linear step does; over seeds.",
            )
        )  # fmt: skip
    return checks


def _figure(size: Setting, found: dict[str, Any], linear: dict[float, Levels]) -> Figure:
    width = str(size.widths[-1])
    panels = []
    for mean in MEANS:
        places = [index for index, member in enumerate(members(size)) if member[0] == mean]
        series = tuple(
            Series(
                NAMES[mlp],
                tuple(row[0] for row in found[mlp][width]["curve"]),
                tuple(float(np.mean([row[1 + place] for place in places])) for row in found[mlp][width]["curve"]),
                style="line",
            )
            for mlp in MLPS
        )
        lines = (
            Baseline("best linear block", linear[mean].block),
            Baseline(f"linear attention, {size.heads} heads", linear[mean].attention),
        )
        panels.append(
            Panel(f"prior mean {mean:g}", Axis("step of Adam"), Axis("training loss", log=True), series, lines)
        )
    return Figure(
        "softmax-blocks",
        f"Softmax transformers on tasks with a mean: d = {size.d}, n = {size.n}, {size.depth} layers, width {width}",
        "Training losses of fresh batches, mean over seeds, beside the least risks of linear models. Curves that still "
        "fall at their end, or stand above what is attainable, decide nothing.",
        tuple(panels),
    )
