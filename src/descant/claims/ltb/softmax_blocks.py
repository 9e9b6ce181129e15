"""Softmax transformers: does the MLP matter when tasks have a mean? (Table 1)"""

import time
from typing import Any

import numpy as np

from .. import (
    Axis,
    Baseline,
    Evidence,
    Figure,
    Lab,
    Panel,
    Series,
    Table,
    claim,
    long_run,
    mean_over,
    write_long_run,
)
from ._blocks import MEANS, Setting, Training, all_trained, setting
from ._blocks_judged import NAMES, Levels, compared, ended, learnt, levels, name, pairs, still_falling, taken

NAME = "softmax-blocks"


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
SEEN = (
    "What was seen: without MLP at width 128 and the paper's step size, all three seeds first know the prior mean and "
    "nothing else (risk 20), leave that plateau after 40,000 to 50,000 steps, and end below the best linear block. A "
    "look before that would have found them much worse. What is missing is the second half of the training with MLP, "
    "and more seeds: after the first half, its seeds lie farther apart than the two kinds of network. Trained with a "
    "step size ten times larger that falls to zero over 40,000 steps, which adds up to the same, neither kind gets as "
    "far."
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
    trainings = [Training(**each) for each in numbers["trainings"]]
    linear = {mean: levels(size, mean) for mean in MEANS}
    alike = pairs(trainings)
    checks = [check for without, with_mlp in alike for check in compared(without, with_mlp)]
    checks += [check for each in trainings for check in (*learnt(each, linear), *ended(each, linear[each.mean]))]
    rows = [_row(each, size) for each in trainings]
    for mean, level in linear.items():
        rows.append(("best linear block", mean, "", level.block, None, None, level.block / size.d))
        rows.append((f"best linear attention, {size.heads} heads", mean, "", level.attention, None, None,
                     level.attention / size.d))  # fmt: skip
    table = Table(
        "softmax-blocks",
        "Risks after training",
        ("model", "prior mean", "steps", "risk", "±", "largest fall in the second half", "risk / tr(ΛΨ)"),
        tuple(rows),
        "Means over seeds. In the last column 1 is what predicting with the prior mean alone would cost. Of a training "
        "that was stopped on its way, and of width 128 with a falling step size, the loss of the last thousand steps "
        "stands for the risk.",
    )
    words = (
        SEEN if notes else WAITING,
        *(_seen(without, with_mlp) for without, with_mlp in alike),
        f"Setting: d = {size.d}, n = {size.n}, {size.depth} layers, batches of {size.batch}.",
    )
    headline = next(check.name for check in checks if check.against == "without")
    return Evidence(tuple(checks), (_figure(size, alike, linear),), (table,), words, headline, notes)


def _row(training: Training, size: Setting) -> tuple[Any, ...]:
    over = mean_over(training.values)
    falling = still_falling(training)
    return name(training), training.mean, taken(training), over.value, over.error, falling, over.value / size.d


def _seen(without: Training, with_mlp: Training) -> str:
    """Every seed of both, because they differ among themselves by more than a mean would say."""
    risks = [", ".join(f"{value:.2f}" for value in each.values) for each in (without, with_mlp)]
    return (
        f"Prior mean {without.mean:g}, width {without.width}, {without.schedule} step size ({without.lr:g}): without "
        f"MLP {risks[0]} after {taken(without)} steps, with MLP {risks[1]} after {taken(with_mlp)}."
    )


def _figure(size: Setting, alike: list[tuple[Training, Training]], linear: dict[float, Levels]) -> Figure:
    panels = []
    for pair in alike:
        level = linear[pair[0].mean]
        series = tuple(
            Series(
                NAMES[each.mlp],
                tuple(row[0] for row in each.curve),
                tuple(float(np.exp(np.log(row[1:]).mean())) for row in each.curve),
                style="line",
            )
            for each in pair
        )
        lines = (
            Baseline("best linear block", level.block),
            Baseline(f"linear attention, {size.heads} heads", level.attention),
        )
        title = f"prior mean {pair[0].mean:g}, width {pair[0].width}, {pair[0].schedule} step size"
        panels.append(Panel(title, Axis("step of Adam"), Axis("training loss", log=True), series, lines))
    return Figure(
        "softmax-blocks",
        f"Softmax transformers on tasks with a mean: d = {size.d}, n = {size.n}, {size.depth} layers",
        "Training losses of fresh batches, geometric mean over seeds, beside the least risks of linear models. Curves "
        "that still fall at their end, or stand above what is attainable, decide nothing.",
        tuple(panels),
    )
