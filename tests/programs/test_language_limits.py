"""Texts that would keep the compiler busy, fill the memory, or leave the numbers that a computer has."""

import pytest

from descant.programs import Program, ProgramError
from descant.programs.graph import Rewriting, build
from descant.programs.language import _limits, _trace
from tests.support.program_bodies import trace

BOMBS = {
    "empty": "for t in range(10**9):\n    pass\nreturn X",
    "beyond Python": "for t in range(10**30):\n    pass\nreturn X",
    "scalar": "s = 0\nfor t in range(290000):\n    s = s + t\nreturn X",
    "nested": "for t in range(200000):\n    for k in range(200000):\n        pass\nreturn X",
    "helpers": "def f0(a):\n    return a\n"
    + "".join(f"def f{k}(a):\n    return f{k - 1}(a) + f{k - 1}(a)\n" for k in range(1, 40))
    + "s = f39(1)\nreturn X",
    "lists": "a = [1, 2]\n" + "a = [a, a]\n" * 40 + "return constant(a)",
    "sums of lists": "a = [1, 2]\n" + "a = sum([a, a], [])\n" * 40 + "return constant([a])",
    "hexadecimal power": "return 2 ** 0x" + "f" * 20000 + " * X",
    "identity": "return eye(10**6)",
    "identities": "for t in range(1000):\n    A = eye(2000)\nreturn X",
    "stacks": "X = hstack([X, X])\n" * 40 + "return X",
    "parts": "A = ones(9000, 4) @ X\nfor t in range(9000):\n    B = A[0:1000]\nreturn X",
    "power": "return 10 ** 10 ** 10 * X",
    "sum": "return " + "X + " * 20000 + "X",
    "signs": "return " + "-" * 200000 + "X",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name, monkeypatch):
    monkeypatch.setattr(_trace, "LONGEST", 1000)
    monkeypatch.setitem(_limits.LARGEST_TOTAL, "constants", 10**7)
    with pytest.raises(ProgramError, match=r"too large|too deeply|more than|lists in lists|of lists"):
        trace(BOMBS[name])


def test_infinite_coefficients_are_refused():
    """Also where they only become infinite when words are put together."""
    for body in (
        "return 1e200 * (1e200 * X)",
        "return X @ (1e200 * eye(d)) @ (1e200 * eye(d))",
        "return X @ (1e200 * ones(d, d)) @ (1e200 * ones(d, d))",
        "for t in range(3):\n    w = 1e200 * (1e200 * w)\nreturn w",
    ):
        with pytest.raises(
            ProgramError, match=r"p, line \d, column \d+: coefficients that multiply to a number that is"
        ):
            build(trace(body), Rewriting(expand=True))


def test_element_wise_products_are_counted_over_the_program():
    text = 'def p(A: "32 32", B: "32 32"):\n    return (A * B) ** 16 * A + (A + B) ** 15 * B\n'
    with pytest.raises(ProgramError, match="more than 4096 numbers in all"):
        Program.from_text(text).trace()
    small = 'def p(A: "4 4", B: "4 4"):\n    for t in range(300):\n        A = 0.5 * A * B\n    return A\n'
    assert Program.from_text(small).trace().body
