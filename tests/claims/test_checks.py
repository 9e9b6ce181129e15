"""When a check passes, refutes or decides nothing."""

import math

import pytest

from descant.claims import Evidence, at_least, at_most, consistent, equal, shown

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
