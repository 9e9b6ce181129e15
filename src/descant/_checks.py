"""One comparison of a number of ours with what a claim says it is, and what came of it; and of several, a verdict.

A number from sampling is never compared alone: a check passes or refutes only if it does so for every value within `Z`
standard errors, and is undecided otherwise. Where a standard error comes from few values, as many of its units are
taken as leave Student's t the tails that `Z` leaves a normal number.
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
# What a check stands against that looks at the experiment, not at the claim: has the training ended?
CONTROL = "control"


@dataclass(frozen=True)
class Check:
    """`value` (relation) `bound`, give or take `tolerance`.

    `reason` says why the tolerance is what it is; `printed` is what the paper prints, as text, where it prints
    anything. `error` and `bound_error` are standard errors, with `freedom` degrees of freedom where they come from few
    values; `interval` stands in their place where errors are not symmetric. `exact` says that the numbers come without
    sampling, fitting or a grid. `against` names the refutation of the claim that this check would trigger.
    What comes of it follows from the numbers, and is not kept beside them.
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
    against: str = ""
    exact: bool = False
    freedom: float | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self):
        if self.exact and (self.error or self.bound_error or self.interval):
            raise ValueError(f"check {self.name!r} is said to be exact and has a standard error; expected one of both.")
        if self.freedom is not None and not self.freedom > 0:
            raise ValueError(f"freedom of check {self.name!r} is {self.freedom}; expected more than 0, or None.")

    @property
    def slack(self) -> float:
        """How far from the truth the difference of value and bound may be by chance."""
        return _units(self.freedom) * math.hypot(self.error, self.bound_error)

    @property
    def outcome(self) -> Outcome:
        """Whether it passes; NaN refutes, because nothing was shown."""
        if self.relation == "is":
            return "passes" if self.value == self.bound else "refutes"
        low, high = self.interval or (self.value - self.slack, self.value + self.slack)
        if self.relation == "≈":
            # A sample too small to show a difference of `tolerance` says nothing by showing none.
            alike = "passes" if (high - low) / 2 <= self.tolerance else "undecided"
            return alike if low <= self.bound <= high else "refutes"
        # How far beyond the bound the value is at least, and at most.
        match self.relation:
            case "=":
                least, most = max(low - self.bound, self.bound - high, 0.0), max(high - self.bound, self.bound - low)
            case "≤":
                least, most = low - self.bound, high - self.bound
            case "≥":
                least, most = self.bound - high, self.bound - low
        if most <= self.tolerance:
            return "passes"
        return "undecided" if least <= self.tolerance else "refutes"


def _units(freedom: float | None) -> float:
    """How many standard errors are allowed for."""
    if freedom is None:
        return Z
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415, a list of claims should not wait for SciPy

    return float(stdtrit(freedom, ndtr(Z)))


def verdict_of(checks: Iterable[Check]) -> Verdict:
    """One refuting check refutes the claim; one undecided check, or control that does not pass, leaves it open."""
    checks = tuple(checks)
    if any(check.against == CONTROL and check.outcome != "passes" for check in checks):
        return "undecided"
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
    against: str = "",
    exact: bool = False,
    freedom: float | None = None,
) -> Check:
    """The two differ by no more than the tolerance."""
    return _check(name, value, "=", bound, tolerance, reason, error, bound_error, printed, against, exact, freedom)


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
    against: str = "",
    freedom: float | None = None,
) -> Check:
    """The two differ by no more than `Z` standard errors, and a difference of `resolution` would have been seen."""
    return _check(name, value, "≈", bound, resolution, reason, error, bound_error, printed, against, False, freedom)


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
    against: str = "",
    exact: bool = False,
    freedom: float | None = None,
) -> Check:
    """The value is not above the bound by more than the tolerance."""
    return _check(name, value, "≤", bound, tolerance, reason, error, bound_error, printed, against, exact, freedom)


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
    against: str = "",
    exact: bool = False,
    freedom: float | None = None,
) -> Check:
    """The value is not below the bound by more than the tolerance."""
    return _check(name, value, "≥", bound, tolerance, reason, error, bound_error, printed, against, exact, freedom)


def shown(name: str, holds: bool, *, reason: str, printed: str = "", against: str = "", exact: bool = False) -> Check:
    """A statement that is true or false, such as "the two pictures have the same shape"; 1 is true."""
    return _check(name, float(holds), "is", 1.0, 0.0, reason, 0.0, 0.0, printed, against, exact, None)


def often(
    name: str,
    successes: int,
    trials: int,
    *,
    reason: str,
    at_least: float | None = None,
    at_most: float | None = None,
    printed: str = "",
    against: str = "",
) -> Check:
    """Successes are at least, or at most, such a share of all trials there could be (Clopper and Pearson's interval).

    >>> often("trainings that end at the optimum", 20, 20, at_least=0.5, reason="More often than not.").outcome
    'passes'
    >>> often("trainings that end at the optimum", 3, 3, at_least=0.5, reason="More often than not.").outcome
    'undecided'
    """
    if (at_least is None) == (at_most is None):
        raise ValueError(f"check {name!r} has at_least={at_least} and at_most={at_most}; expected one of the two.")
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"check {name!r} counts {successes} successes in {trials} trials; expected 0 to all of them.")
    from scipy.special import betaincinv, ndtr  # noqa: PLC0415, as above

    tail, failures = float(ndtr(-Z)), trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    relation, bound = ("≥", at_least) if at_least is not None else ("≤", at_most)
    assert bound is not None
    words = f"{name}: {successes} of {trials}"
    return Check(
        words, successes / trials, relation, bound, 0.0, reason, printed=printed, against=against, interval=(low, high)
    )


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
    against: str,
    exact: bool,
    freedom: float | None,
) -> Check:
    """A check of plain numbers, whatever scalars they came as."""
    numbers = float(error), float(bound_error)
    within = None if freedom is None else float(freedom)
    return Check(
        name, float(value), relation, float(bound), float(tolerance), reason, *numbers, printed, against, exact, within
    )
