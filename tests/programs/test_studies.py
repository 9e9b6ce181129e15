"""The studies of the documentation, and that its page tells what they find."""

import pytest

from descant.programs.studies import (
    CONDITIONS,
    LARGEST_ERROR,
    SETTINGS,
    convergence,
    degree_of,
    entry,
    input_format,
    least_blocks,
    table,
)
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


@pytest.mark.parametrize(
    ("body", "degree"),
    [
        ("return A @ A.T @ A", 3),
        ("return A + B @ A, B", 2),
        ("return eye(2)", 0),
        # Terms that cancel are not counted: what is left is of degree one, and nothing more than that is claimed.
        ("return A @ B - A @ B + A", 0),
        ("return (A + 2 * eye(2)) @ (A - 2 * eye(2)) - A", 2),
        ("W = A\n    for t in range(5):\n        W = W @ A @ W\n    return W", 63),
        ("W = zeros(2, 2)\n    W[0] = B[1] @ B\n    return W[1] + A[0], W", 2),
        ("return hstack([A @ B, A])[:, 2:4] @ B", 2),
    ],
)
def test_the_degree_of_a_program(body, degree):
    from descant.programs import Program

    traced = Program.from_text(f'def p(A: "2 2", B: "2 2"):\n    {body}\n').trace()
    assert degree_of(traced) == degree


def test_no_program_has_fewer_blocks_than_its_degree_allows():
    """Of the library, and of random programs, in every way that is preferred."""
    from descant.programs import Program, compile_program, find
    from descant.programs.fuzz import general

    for name in ("ridge", "gd_beta", "newton_schulz", "power", "gd_plus_plus"):
        found = compile_program(name, SETTINGS[name], prefer="depth").sizes.blocks
        assert least_blocks(find(name).trace(SETTINGS[name])) <= found
    tight = 0
    for written in filter(lambda each: len(each.text) < 400, map(general, range(40))):
        program = Program.from_text(written.text)
        blocks = compile_program(program, written.settings, prefer="depth").sizes.blocks
        least = least_blocks(program.trace(written.settings))
        assert least <= blocks, written.text
        tight += least == blocks
    assert tight >= 3
