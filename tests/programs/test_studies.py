"""The studies of the documentation, and that its page tells what they find."""

import pytest

from descant.programs.studies import CONDITIONS, LARGEST_ERROR, SETTINGS, convergence, entry, input_format, table
from tests.support import ROOT

PAGE = ROOT / "docs" / "programs.md"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_convergence_at_the_theoretical_rate(condition):
    found = convergence(condition)
    assert found.deviation < 0.02
    assert f"| {condition} | {found.slope:.5g} | {found.theory:.5g} |" in PAGE.read_text()


def test_input_formats():
    found = input_format()
    broken = {outcome.name for outcome in found if outcome.broken}
    assert broken == {
        *("y before X", "w before X", "w two rows lower"),
        *("an empty column before X", "H transposed"),
    }  # fmt: skip
    text = PAGE.read_text()
    for outcome in found:
        assert outcome.recompiled < 1e-12
        assert f"| {outcome.name} | {'broken' if outcome.broken else 'unharmed'} |" in text


@pytest.mark.slow
def test_the_table_is_what_the_compiler_does():
    assert table() in PAGE.read_text()


@pytest.mark.parametrize(
    "name", [each if each == "ridge" else pytest.param(each, marks=pytest.mark.slow) for each in SETTINGS]
)
def test_errors_are_as_the_table_says(name):
    assert entry(name).error < LARGEST_ERROR
