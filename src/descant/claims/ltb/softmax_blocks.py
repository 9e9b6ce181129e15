"""Softmax transformers: does the MLP matter when tasks have a mean? (Table 1)"""

import time
from typing import Any

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
from ._blocks import MEANS, SMALL, Setting, Training, all_trained, setting
from ._blocks_judged import (
    NAMES,
    Levels,
    compared,
    ended,
    judged,
    learnt,
    levels,
    own_recipe,
    pairs,
    taken,
)

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
    "A training that can decide takes a GPU: the paper's is 200,000 steps, and what shorter ones show depends on when "
    "they are stopped. At this budget tiny networks are trained for a moment, so that the experiment is seen to run."
)
SEEN = (
    "Without MLP networks stay longer on a plateau, and then learn as well: all five seeds at width 128 end far below "
    "the best linear block, so the MLP is not needed to learn. How much it helps stays open. Seeds of one kind lie "
    "farther apart (with MLP, 0.16 to 4.28) than the two kinds: one seed of each could have shown anything from a "
    "quarter of the risk to nineteen times it, and a factor of two is neither shown nor excluded.",
    "So it depends on the reading. *The MLP is needed to learn* fails. *Without it the risk is at least twice as "
    "large* is open. *Without it networks learn later* is what the curves show: at width 128 they first know the "
    "prior mean and nothing else (a loss of 20), and leave that plateau between steps 40,000 and 50,000. At step "
    "40,000 networks with MLP stand between 7 and 8. A training that was stopped there would have shown the picture "
    "that the words describe.",
    "What was set when: that to learn is to do better than the best linear block, and that much worse is a factor of "
    "two, before there was any training that could decide. That networks which learn without MLP refute the claim was "
    "chosen after three seeds of them had been seen; the two that were trained later agree, but would not decide "
    "alone. That the paper's training need not have settled was decided after the look, too. It has not: most losses "
    "still fall at its end, and one without MLP jumped from 2.4 to 6.3 on its way. "
    "By the factor of two alone the claim would be undecided.",
    "At width 64 the three seeds without MLP are below the block as well, by 6.3 standard errors; with three seeds 19 "
    "would be needed. They leave their plateau between steps 60,000 and 130,000. With MLP that width was stopped on "
    "its way. At mean zero, networks were trained in another way only: a step size ten times larger that falls to "
    "zero over 40,000 steps. With the large mean that does not get as far, with or without MLP.",
    "Ours, because the words that we read leave it open: the width, ReLU, no dropout, gradients that are shortened to "
    "length 1, and products of the layers in bfloat16.",
)


@claim(
    "softmax-blocks",
    paper="ltb",
    whose="paper",
    seen="transcription",
    observed=True,
    where="Table 1",
    title="Softmax transformers need the MLP too, when tasks have a mean",
    statement=r"""
        A GPT-2 style transformer learns in-context linear regression with and without MLP if tasks are centred at zero.
        With the prior mean $(10, \dots, 10)$ it needs the MLP: it still learns with it, and is much worse without.
        (Isotropic Gaussian inputs and tasks, no noise; after 200,000 steps of Adam with step size $10^{-4}$, each on
        256 fresh tasks.)
    """,
    refuted_by={
        "zero": "Trained networks, with or without MLP, that are worse at mean zero than one linear step.",
        "with": "Trained networks with MLP that do not learn at the large mean: worse than the best linear block.",
        "without": "Trained networks without MLP that learn at the large mean too, better than the best linear block.",
        "larger": "Trained networks without MLP that are less than twice as bad as with MLP at the large mean.",
    },
    method=r"""
        Softmax attention, pre-norm, with no MLP or a ReLU MLP of four times the width, trained by Adam on fresh prompts
        without noise: several seeds, two widths, because the paper's is not stated. The wider network is judged, the
        other is shown. "Learns" is a risk below that of the best single linear step, "much worse" a factor of two, over
        seeds by $t$ quantiles. The numbers of the printed table could not be read.

        What is judged at the large mean is what networks have reached after the paper's training, all of its steps.
        Trainings of smaller sizes, which a CPU can do, count only if the loss has stopped falling *and* has come down
        to what one layer of its kind is known to reach: a linear block with MLP, linear self-attention of as many heads
        without. So a plateau before a drop that was not waited for decides nothing there.
    """,
    quick="the long run that comes with the package; without one, networks too small and short to decide",
    full="on a GPU the paper's setting (d = 20, n = 40, 6 layers, 200,000 steps, 5 seeds, widths 64 and 128); on a CPU "
    "d = 5, n = 10, 3 layers, 60,000 steps, 3 seeds, widths 32 and 64",
    seconds=5,
)
def softmax_blocks(lab: Lab) -> Evidence:
    """Risks by prior mean, with and without MLP."""
    numbers, notes = evidence_of(lab)
    size = Setting(**{**numbers["setting"], "widths": tuple(numbers["setting"]["widths"])})
    trainings = [Training(**each) for each in numbers["trainings"]]
    linear = {mean: levels(size, mean) for mean in MEANS}
    deciding = [each for each in trainings if judged(each, size)]
    checks = [compared(without, with_mlp) for without, with_mlp in pairs(deciding)]
    for each in deciding:
        checks += [learnt(each, linear[each.mean]), *ended(each, size, linear[each.mean])]
    table = Table(
        "softmax-blocks",
        "Risks after training",
        ("model", "width", "step size", "prior mean", "steps", "risk", "±", "every seed"),
        (*map(_row, trainings), *(row for mean, level in linear.items() for row in _linear_rows(size, mean, level))),
        "Means over seeds; the step size is constant, or falls to zero like a cosine. Of a training that was stopped, "
        "and of width 128 with a cosine, the losses of the last thousand steps stand for the risks.",
    )
    shown = [each for each in trainings if each.mean > 0 and own_recipe(each, size)]
    words = (
        *(SEEN if notes else (WAITING,) if size.name == SMALL.name else ()),
        f"Setting: d = {size.d}, n = {size.n}, {size.depth} layers, batches of {size.batch}.",
    )
    headline = next(check.name for check in checks if check.against == "without")
    return Evidence(tuple(checks), (_figure(size, shown, linear),), (table,), words, headline, notes)


def _row(training: Training) -> tuple[Any, ...]:
    """With every seed, because they differ among themselves by more than a mean would say."""
    over = mean_over(training.values)
    seeds = ", ".join(f"{value:#.3g}" for value in training.values)
    return (NAMES[training.mlp], training.width, training.schedule, training.mean, taken(training), over.value,
            over.error, seeds)  # fmt: skip


def _linear_rows(size: Setting, mean: float, level: Levels) -> list[tuple[Any, ...]]:
    """What answers with the prior mean, and linear models, cost on the same task: exact."""
    known = {
        "prior mean alone": float(size.d),
        "best linear block": level.block,
        f"best linear attention, {size.heads} heads": level.attention,
    }
    return [(model, "", "", mean, "", risk, None, "") for model, risk in known.items()]


def _figure(size: Setting, shown: list[Training], linear: dict[float, Levels]) -> Figure:
    quarters = [size.steps * part // 4 for part in range(5)]
    steps = Axis("step of Adam", ticks=tuple((each, f"{each:,}") for each in quarters))
    least = min(min(row[1:]) for each in shown for row in each.curve)
    # The first steps, which find the prior mean, would take half of the picture.
    losses = Axis("training loss", log=True, limits=(0.7 * min(least, linear[MEANS[-1]].block), 3.0 * size.d))
    lines = Baseline("prior mean alone", size.d), Baseline("best linear block", linear[MEANS[-1]].block)
    panels = []
    for width in sorted({each.width for each in shown}, reverse=True):
        curves = tuple(curve for each in shown if each.width == width for curve in _curves(each))
        panels.append(Panel(f"width {width}", steps, losses, curves, lines))
    return Figure(
        "softmax-blocks",
        f"Softmax transformers on tasks with mean {MEANS[-1]:g}: d = {size.d}, n = {size.n}, {size.depth} layers",
        "Training losses of fresh batches, a line for every seed. Networks that know the prior mean and nothing else "
        "are on the upper baseline; those that have learnt in context are below the lower one.",
        tuple(panels),
        shared=True,
    )


def _curves(training: Training) -> tuple[Series, ...]:
    """One line per seed in one colour; the legend names the first."""
    steps, *seeds = zip(*training.curve, strict=True)
    family = NAMES[training.mlp]
    return tuple(
        Series(family if not number else f"{family}, seed {number}", steps, losses, style="line", family=family,
               listed=not number)
        for number, losses in enumerate(seeds)
    )  # fmt: skip
