"""The share of the guess that is left after n examples: the model's, beside those of the theory's learners."""

from dataclasses import dataclass

import numpy as np

from .._checks import Check, Verdict, at_least, consistent, verdict_of
from ._learners import LEARNERS, learnt, yq_share
from ._regression import TextResults
from ._statistics import Interval, copied, corrected, difference, estimate, mse, spearman

# A share that is off the curve by this much would be worth the name; and so would a fall by as much.
RESOLUTION, LEAST_FALL = 0.25, 0.1
LEAST_TASKS = 30
STATEMENT = "The share of a guess that is left after n examples is y_q-LSA's, (d + 1) / (n + d + 1), and falls with n."


@dataclass(frozen=True)
class ShareRow:
    """After n examples: shares of the guess, and errors in units of the label's variance.

    `exact` is y_q-LSA's share by its formula, `learners` those of the theory's learners on the same prompts, found by
    the same regression, and `apart` the model's share less y_q-LSA's there: what chance does to a draw of tasks, it
    does to both. `known` is the Spearman correlation of the answers without a guess; `saved` is the squared error that
    the model saves over the guess alone.
    """

    n: int
    share: Interval
    label: Interval
    exact: float
    learners: dict[str, Interval]
    apart: Interval
    error: Interval
    alone: Interval
    without: Interval
    saved: Interval
    known: Interval


def share_rows(results: TextResults) -> list[ShareRow]:
    """A row for each number of examples that was looked at."""
    tasks = results.tasks
    known = {learner: learnt(tasks, learner) for learner in LEARNERS}
    wordings = len(results.wordings)
    unit = float(tasks.label.std())
    rows = []
    for n in results.places:

        def column(array: np.ndarray, n: int = n) -> np.ndarray:
            each = array[..., [n]]
            return np.broadcast_to(each, (wordings, *each.shape[-2:])) if each.ndim == 2 else each

        gold, guess = column(tasks.label), column(tasks.guess)
        aided, bare = column(results.answer["guess"]), column(results.answer["none"])
        rows.append(
            ShareRow(
                n=n,
                share=estimate(copied, aided, guess, gold),
                label=estimate(corrected, aided, guess, gold),
                exact=yq_share(tasks, n),
                learners={
                    name: estimate(copied, answers[:, [n]], tasks.guess[:, [n]], tasks.label[:, [n]])
                    for name, answers in known.items()
                },
                # The coefficient is linear in the answer.
                apart=estimate(copied, aided - column(known[LEARNERS[0]]), guess, gold),
                error=estimate(mse, aided / unit, gold / unit),
                alone=estimate(mse, guess[:1] / unit, gold[:1] / unit),
                without=estimate(mse, bare / unit, gold / unit),
                saved=estimate(difference(mse), guess / unit, aided / unit, gold / unit),
                known=estimate(spearman, bare, gold),
            )
        )
    return rows


@dataclass(frozen=True)
class ShareVerdict:
    """Whether the model's share follows y_q-LSA's."""

    statement: str
    verdict: Verdict
    reason: str
    checks: tuple[Check, ...]


def share_verdict(results: TextResults) -> ShareVerdict:
    """The share against (d + 1) / (n + d + 1) at every n, and whether it falls."""
    whole = np.isfinite(results.answer["guess"][:, :, list(results.places)]).all(axis=(0, 2))
    if int(whole.sum()) < LEAST_TASKS or len(results.places) < 3:
        words = (
            f"Judged on {LEAST_TASKS} tasks or more that were answered throughout, and after two numbers of examples."
        )
        return ShareVerdict(STATEMENT, "undecided", f"{words} There are {int(whole.sum())} tasks.", ())
    rows = [row for row in share_rows(results) if row.n]
    checks = tuple(
        consistent(
            f"share of the guess after {row.n} example{'s' if row.n > 1 else ''}",
            row.share.value,
            row.exact,
            error=row.share.error,
            freedom=row.share.freedom,
            resolution=RESOLUTION,
            reason="y_q-LSA's share is exact; the model's has an error over tasks and wordings.",
            against="curve",
        )
        for row in rows
    )
    fall = share_fall(results, rows[0].n, rows[-1].n)
    checks += (
        at_least(
            f"fall of the share from {rows[0].n} to {rows[-1].n} examples",
            fall.value,
            LEAST_FALL,
            error=fall.error,
            freedom=fall.freedom,
            reason=f"y_q-LSA's share falls by {rows[0].exact - rows[-1].exact:.2f}; less than {LEAST_FALL} is no fall.",
            against="falls",
        ),
    )
    verdict = verdict_of(checks)
    words = {
        "holds": "The share is y_q-LSA's as far as can be seen.",
        "does-not-hold": "The share is not y_q-LSA's.",
        "undecided": "The numbers allow y_q-LSA's share, and others.",
    }[verdict]
    numbers = "; ".join(
        f"{row.share.value:.2f} ± {row.share.error:.2f} after {row.n} ({row.exact:.2f})" for row in rows
    )
    return ShareVerdict(STATEMENT, verdict, f"{words} The share, and y_q-LSA's: {numbers}.", checks)


def share_fall(results: TextResults, first: int, last: int) -> Interval:
    """How much the share falls from one number of examples to another, on the same tasks."""
    tasks, aided = results.tasks, results.answer["guess"]
    wordings = len(results.wordings)

    def at(n: int) -> list[np.ndarray]:
        shown = [np.broadcast_to(array[:, [n]], (wordings, len(array), 1)) for array in (tasks.guess, tasks.label)]
        return [aided[:, :, [n]], *shown]

    return estimate(lambda a, g, y, b, h, z: copied(a, g, y) - copied(b, h, z), *at(first), *at(last))
