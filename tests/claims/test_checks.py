"""When a check passes, refutes or decides nothing."""

import math

import numpy as np
import pytest
from scipy import stats

from descant.claims import CONTROL, Evidence, at_least, at_most, consistent, equal, often, shown

WHY = {"reason": "for the test"}


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (equal("exact", 1.0, 1.1, tolerance=0.2, **WHY), "passes"),
        (equal("exact", 1.0, 1.3, tolerance=0.2, **WHY), "refutes"),
        (equal("other side", 1.3, 1.0, tolerance=0.2, **WHY), "refutes"),
        (equal("sampled", 1.0, 1.1, tolerance=0.2, error=0.05, **WHY), "undecided"),
        (equal("sampled, far off", 1.0, 1.5, tolerance=0.2, error=0.05, **WHY), "refutes"),
        (at_most("below", 1.0, 2.0, error=0.3, **WHY), "passes"),
        (at_most("below, but for its error", 1.0, 2.0, error=0.4, **WHY), "undecided"),
        (at_most("both errors count", 1.0, 2.0, error=0.3, bound_error=0.3, **WHY), "undecided"),
        (at_most("above", 3.0, 2.0, error=0.3, **WHY), "refutes"),
        (at_least("above", 3.0, 2.0, error=0.3, **WHY), "passes"),
        (at_least("below", 1.0, 2.0, error=0.3, **WHY), "refutes"),
        (at_least("a little below", 1.9, 2.0, tolerance=0.2, **WHY), "passes"),
        (consistent("within errors", 1.0, 1.2, error=0.1, resolution=0.5, **WHY), "passes"),
        (consistent("too blurred to tell", 1.0, 1.2, error=0.1, resolution=0.2, **WHY), "undecided"),
        (consistent("beyond errors", 1.0, 1.4, error=0.1, resolution=0.5, **WHY), "refutes"),
        (at_most("few seeds", 1.0, 2.0, error=0.3, freedom=2.0, **WHY), "undecided"),
        (at_most("few seeds, all alike", 1.0, 2.0, error=0.05, freedom=2.0, **WHY), "passes"),
        (at_most("few seeds, far off", 4.0, 2.0, error=0.1, freedom=2.0, **WHY), "refutes"),
        (equal("interval around", 1.0, 1.0, tolerance=0.2, error=0.1, **WHY), "undecided"),
        (often("all of many", 20, 20, at_least=0.5, **WHY), "passes"),
        (often("all of few", 3, 3, at_least=0.5, **WHY), "undecided"),
        (often("none of many", 0, 20, at_least=0.5, **WHY), "refutes"),
        (often("none of many", 0, 20, at_most=0.5, **WHY), "passes"),
        (often("half of many", 10, 20, at_most=0.4, **WHY), "undecided"),
        (often("all of many", 20, 20, at_most=0.5, **WHY), "refutes"),
        (shown("true", True, **WHY), "passes"),
        (shown("false", False, **WHY), "refutes"),
        (equal("no number", math.nan, 1.0, tolerance=0.2, **WHY), "refutes"),
        (at_most("no number", math.nan, 1.0, **WHY), "refutes"),
        (consistent("no number", math.nan, 1.0, error=0.1, resolution=1.0, **WHY), "refutes"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_outcomes(check, outcome):
    assert check.outcome == outcome


def test_one_refuting_check_decides_and_one_undecided_leaves_open():
    good, bad = shown("true", True, **WHY), shown("false", False, **WHY)
    open_ = at_most("blurred", 1.0, 1.0, error=1.0, **WHY)
    assert Evidence((good, good)).verdict == "holds"
    assert Evidence((good, open_)).verdict == "undecided"
    assert Evidence((good, open_, bad)).verdict == "does-not-hold"
    with pytest.raises(ValueError, match="no checks"):
        Evidence(())


def test_a_failed_control_leaves_open_what_would_be_refuted():
    bad, control = shown("false", False, **WHY), at_most("it fell by", 1.0, 0.1, against=CONTROL, **WHY)
    found = Evidence((bad, control))
    assert found.verdict == "undecided" and found.decisive is control
    met = Evidence((bad, at_most("it fell by", 0.0, 0.1, against=CONTROL, **WHY)))
    assert met.verdict == "does-not-hold" and met.decisive is bad


def test_the_headline_is_chosen_by_the_claim_unless_another_check_decides():
    first, chosen = shown("first", True, **WHY), at_most("chosen", 1.0, 2.0, **WHY)
    assert Evidence((first, chosen)).decisive is first
    assert Evidence((first, chosen), headline="chosen").decisive is chosen
    refuting = shown("second", False, **WHY)
    assert Evidence((first, refuting, chosen), headline="chosen").decisive is refuting
    with pytest.raises(ValueError, match="name of a check"):
        Evidence((first,), headline="nothing")


def test_exact_numbers_have_no_errors():
    with pytest.raises(ValueError, match="said to be exact"):
        at_most("both", 1.0, 2.0, error=0.1, exact=True, **WHY)
    with pytest.raises(ValueError, match="freedom"):
        at_most("no value", 1.0, 2.0, error=0.1, freedom=0.0, **WHY)


def test_intervals_of_success_rates_are_those_of_scipy():
    found = often("some", 7, 9, at_least=0.5, **WHY).interval
    expected = stats.binomtest(7, 9).proportion_ci(confidence_level=2 * stats.norm.cdf(3) - 1, method="exact")
    assert found == pytest.approx((expected.low, expected.high), rel=1e-12)
    for wrong in ({"at_least": 0.5, "at_most": 0.5}, {}):
        with pytest.raises(ValueError, match="one of the two"):
            often("some", 7, 9, **wrong, **WHY)
    with pytest.raises(ValueError, match="0 to all of them"):
        often("some", 10, 9, at_least=0.5, **WHY)


def test_slack_of_few_values_covers_as_often_as_that_of_many():
    draws = np.random.default_rng(0).normal(size=(200_000, 3))
    error = draws.std(axis=1, ddof=1) / math.sqrt(3)
    slack = at_most("unit", 0.0, 0.0, error=1.0, freedom=2.0, **WHY).slack
    missed = np.mean(np.abs(draws.mean(axis=1)) > slack * error)
    assert missed == pytest.approx(2 * stats.norm.sf(3), abs=4 * math.sqrt(0.0027 / 200_000))
