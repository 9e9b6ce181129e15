"""One comparison of a number of ours with what a claim says it is, and what came of it; and of several, a verdict.

A number from sampling is never compared alone: a check passes or refutes only if it does so for every value within `Z`
standard errors, and is undecided otherwise.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passes", "refutes", "undecided"]
Verdict = Literal["holds", "does-not-hold", "undecided"]
Relation = Literal["=", "≈", "≤", "≥", "is"]
# With the few hundred checks of a report, less than one is expected to err by this much; draws are seeded besides.
Z = 3.0


@dataclass(frozen=True)
class Check:
    """`value` (relation) `bound`, give or take `tolerance`; standard errors of 0 are exact numbers.

    `reason` says why the tolerance is what it is; `printed` is what the paper prints, as text,
    where it prints anything.
    """

    name: str
    value: float
    relation: Relation
    bound: float
    tolerance: float
    outcome: Outcome
    reason: str
    error: float = 0.0
    bound_error: float = 0.0
    printed: str = ""


def verdict_of(checks: Iterable[Check]) -> Verdict:
    """One refuting check refutes the claim; one undecided check leaves it open."""
    outcomes = {check.outcome for check in checks}
    if "refutes" in outcomes:
        return "does-not-hold"
    return "holds" if outcomes == {"passes"} else "undecided"


def equal(
    name: str,
    value: float,
    bound: float,
    *,
    tolerance: float,
    reason: str,
    error: float = 0.0,
    bound_error: float = 0.0,
    printed: str = "",
) -> Check:
    """The two differ by no more than the tolerance."""
    return _compared(name, value, "=", bound, abs(value - bound), tolerance, reason, error, bound_error, printed)


def consistent(
    name: str,
    value: float,
    bound: float,
    *,
    error: float,
    resolution: float,
    reason: str,
    bound_error: float = 0.0,
    printed: str = "",
) -> Check:
    """The two differ by no more than `Z` standard errors, and a difference of `resolution` would have been seen."""
    value, bound = float(value), float(bound)
    slack = Z * math.hypot(error, bound_error)
    if not abs(value - bound) <= slack:
        outcome: Outcome = "refutes"
    else:
        outcome = "passes" if slack <= resolution else "undecided"
    return Check(name, value, "≈", bound, resolution, outcome, reason, float(error), float(bound_error), printed)


def at_most(
    name: str,
    value: float,
    bound: float,
    *,
    reason: str,
    tolerance: float = 0.0,
    error: float = 0.0,
    bound_error: float = 0.0,
    printed: str = "",
) -> Check:
    """The value is not above the bound by more than the tolerance."""
    return _compared(name, value, "≤", bound, value - bound, tolerance, reason, error, bound_error, printed)


def at_least(
    name: str,
    value: float,
    bound: float,
    *,
    reason: str,
    tolerance: float = 0.0,
    error: float = 0.0,
    bound_error: float = 0.0,
    printed: str = "",
) -> Check:
    """The value is not below the bound by more than the tolerance."""
    return _compared(name, value, "≥", bound, bound - value, tolerance, reason, error, bound_error, printed)


def shown(name: str, holds: bool, *, reason: str, printed: str = "") -> Check:
    """A statement that is true or false, such as "the two pictures have the same shape"; 1 is true."""
    return Check(name, float(holds), "is", 1.0, 0.0, "passes" if holds else "refutes", reason, printed=printed)


def _compared(
    name: str,
    value: float,
    relation: Relation,
    bound: float,
    excess: float,
    tolerance: float,
    reason: str,
    error: float,
    bound_error: float,
    printed: str,
) -> Check:
    """A check that asks whether an excess is at most the tolerance."""
    outcome = _outcome(float(excess), Z * math.hypot(error, bound_error), tolerance)
    numbers = float(value), relation, float(bound), tolerance
    return Check(name, *numbers, outcome, reason, float(error), float(bound_error), printed)


def _outcome(excess: float, slack: float, tolerance: float) -> Outcome:
    """Whether an excess, known within the slack, is at most the tolerance. NaN refutes: nothing was shown."""
    if excess + slack <= tolerance:
        return "passes"
    return "undecided" if excess - slack <= tolerance else "refutes"
