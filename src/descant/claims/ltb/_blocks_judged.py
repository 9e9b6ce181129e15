"""How trainings of softmax transformers are judged: have they learnt, is one much worse, have they ended?

The statement is about networks after the paper's training: what they reach by its last step is judged, whether or not
more steps would change it. Another training stands for it only if it has come to an end by itself.
"""

from typing import NamedTuple

import numpy as np

from ...theory import Problem, best_heads, gd_beta_minimum
from .. import CONTROL, Check, at_least, at_most, mean_over, paired
from ._blocks import MLPS, PAPER, Setting, Training
from ._problems import isotropic

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


def still_falling(training: Training) -> float:
    """By how large a share the training loss fell over the second half of the training, at the worst seed."""
    losses = np.array(training.curve)[:, 1:]
    tail = max(1, len(losses) // 20)
    middle, end = losses[len(losses) // 2 :][:tail].mean(axis=0), losses[-tail:].mean(axis=0)
    return float(np.maximum(0.0, 1 - end / middle).max())


def own_recipe(training: Training, size: Setting) -> bool:
    """Whether it was trained as the setting says, not in another way that is shown beside it."""
    return (training.schedule, training.lr, training.planned) == (size.schedule, size.lr, size.steps)


def judged(training: Training, size: Setting) -> bool:
    """At mean zero every network; at the large mean the widest, by the setting's own recipe."""
    return training.mean == 0 or (training.width == max(size.widths) and own_recipe(training, size))


def pairs(trainings: list[Training]) -> list[tuple[Training, Training]]:
    """Without and with MLP at the large mean, otherwise alike."""
    large = [each for each in trainings if each.mean > 0]
    return [
        (without, with_mlp) for without in large for with_mlp in large
        if (without.mlp, with_mlp.mlp) == MLPS and recipe(without) == recipe(with_mlp)
    ]  # fmt: skip


def recipe(training: Training) -> tuple[int, str, int]:
    """What networks with and without MLP must share to be compared."""
    return training.width, training.schedule, training.planned


def name(training: Training) -> str:
    """What was trained, and how."""
    return f"{NAMES[training.mlp]}, width {training.width}, {training.schedule} step size"


def taken(training: Training) -> str:
    """The number of its steps, and of how many if it was stopped."""
    whole = training.steps == training.planned
    return f"{training.steps:,}" if whole else f"{training.steps:,} of {training.planned:,}"


def ended(training: Training, size: Setting, linear: Levels) -> list[Check]:
    """At mean zero only where it has not learnt: one that has learnt stays so, however long it goes on."""
    if training.mean == 0 and max(training.values) <= linear.block:
        return []
    which = f"{name(training)}, mean {training.mean:g}"
    whole = at_least(
        f"share of its steps that a training took, {which}", training.steps / training.planned, 1.0,
        against=CONTROL, reason="A training that was stopped on its way decides nothing.",
    )  # fmt: skip
    if size.name == PAPER.name and own_recipe(training, size):
        return [whole]
    return [
        whole,
        at_most(
            f"share by which the loss fell in the second half, {which}, worst seed",
            still_falling(training), CONVERGED, against=CONTROL,
            reason="A training that is not the paper's and is still falling decides nothing.",
        ),
        at_most(
            f"risk over what one layer of its kind reaches, {which}, worst seed",
            max(training.values) / linear.attainable(training.mlp), 1.0, against=CONTROL,
            reason="A plateau above what is attainable is no end, however long it is.",
        ),
    ]  # fmt: skip


def compared(without: Training, with_mlp: Training) -> Check:
    """Is the network much worse without MLP?"""
    ratio = paired(np.log(without.values), np.log(with_mlp.values))
    return at_least(
        f"log of without over with MLP, width {without.width}, {without.schedule} step size, mean {without.mean:g}",
        ratio.value, float(np.log(MUCH)), error=ratio.error, freedom=ratio.freedom, against="larger",
        reason="A factor of two is what we call much worse; over seeds.",
    )  # fmt: skip


def learnt(training: Training, linear: Levels) -> Check:
    """Has it learnt, as the claim says that it does, or does not?"""
    over = mean_over(training.values)
    words = f"risk over the best linear block's, {name(training)}, mean {training.mean:g}"
    value, error = over.value / linear.block, over.error / linear.block
    if training.mean > 0 and training.mlp == "none":
        return at_least(
            words, value, 1.0, error=error, freedom=over.freedom, against="without",
            reason="If the MLP is needed, networks without it can't do better than one linear step; over seeds.",
        )  # fmt: skip
    return at_most(
        words, value, 1.0, error=error, freedom=over.freedom, against="with" if training.mean > 0 else "zero",
        reason="To learn in context is to do at least what one linear step does; over seeds.",
    )  # fmt: skip
