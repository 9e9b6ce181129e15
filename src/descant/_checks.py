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

    `reason` says why the tolerance is what it is; `printed` is what the paper prints, as text, where it prints
    anything. What comes of it follows from the numbers, and is not kept beside them.
    """

    name: str
    value: float
    relation: Relation
    bound: float
    tolerance: float
    reason: str
    error: float = 0.0
    bound_error: float = 0.0
    printed: str = ""

    @property
    def outcome(self) -> Outcome:
        """Whether it passes; NaN refutes, because nothing was shown."""
        difference, slack = self.value - self.bound, Z * math.hypot(self.error, self.bound_error)
        match self.relation:
            case "is":
                return "passes" if self.value == self.bound else "refutes"
            case "≈":
                # A sample too small to show a difference of `tolerance` says nothing by showing none.
                alike = "passes" if slack <= self.tolerance else "undecided"
                return alike if abs(difference) <= slack else "refutes"
            case "=":
                excess = abs(difference)
            case "≤":
                excess = difference
            case "≥":
                excess = -difference
        if excess + slack <= self.tolerance:
            return "passes"
        return "undecided" if excess - slack <= self.tolerance else "refutes"


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
    return _check(name, value, "=", bound, tolerance, reason, error, bound_error, printed)


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
    return _check(name, value, "≈", bound, resolution, reason, error, bound_error, printed)


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
    return _check(name, value, "≤", bound, tolerance, reason, error, bound_error, printed)


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
    return _check(name, value, "≥", bound, tolerance, reason, error, bound_error, printed)


def shown(name: str, holds: bool, *, reason: str, printed: str = "") -> Check:
    """A statement that is true or false, such as "the two pictures have the same shape"; 1 is true."""
    return _check(name, float(holds), "is", 1.0, 0.0, reason, 0.0, 0.0, printed)


def _check(
    name: str,
    value: float,
    relation: Relation,
    bound: float,
    tolerance: float,
    reason: str,
    error: float,
    bound_error: float,
    printed: str,
) -> Check:
    """A check of plain numbers, whatever scalars they came as."""
    numbers = float(error), float(bound_error)
    return Check(name, float(value), relation, float(bound), float(tolerance), reason, *numbers, printed)
