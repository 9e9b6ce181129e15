"""Texts that would keep the compiler busy, fill the memory, or leave the numbers that a computer has."""

import tracemalloc

import pytest

from descant.programs import Program, ProgramError, choose
from descant.programs.graph import Rewriting, _bounds, build
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
    "part of a tall one": "A = ones(9000, 4) @ X\nA[0] = w.T\nreturn A",
}
# Few numbers are written down; what comes of larger ones like these would take hours, or all the memory.
CONSTANTS = {
    "products": "A = ones(60, 60)\nfor t in range(30):\n    A = A @ A * cos(t)\nreturn A",
    "products in a loop": "A = ones(60, 60)\nfor t in range(300):\n    A = 0.01 * A @ A\nreturn A",
    "products in loops": "A = ones(60, 60)\n"
    "for t in range(30):\n    for k in range(10):\n        A = 0.01 * A @ A\nreturn A",
    "dot products": "A = ones(1, 6000)\ns = eye(1)\nfor t in range(30):\n    s = A @ A.T * cos(t) + s\nreturn s",
    "sums": "A = B = ones(60, 60)\nfor t in range(90):\n    A = A * cos(t * t) + B\nreturn A",
    "outer product": "return (y.T @ ones(n, 1)) @ ones(1, 3600)",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name, monkeypatch):
    monkeypatch.setattr(_trace, "LONGEST", 1000)
    monkeypatch.setitem(_limits.LARGEST_TOTAL, "constants", 10**7)
    with pytest.raises(ProgramError, match=r"too large|too deeply|more than|lists in lists|of lists"):
        trace(BOMBS[name])


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_that_take_too_long_to_put_together_are_refused(name, monkeypatch):
    traced = trace(CONSTANTS[name])
    monkeypatch.setattr(_bounds, "MOST", {"products": 10**7, "numbers": 10**6})
    monkeypatch.setattr(_bounds, "LARGEST", 10**4)
    with pytest.raises(ProgramError, match=r"^p, line \d, column \d+: constants (of the program take|that make) "):
        for each in traced.variants():
            build(each, Rewriting(expand=True))


def test_large_matrices_take_no_memory_for_nothing(monkeypatch):
    """A column of a tall one, or one replaced, needs nothing as wide as it is tall; a refusal, no array at all."""
    monkeypatch.setattr("descant._memory.free", lambda: 10**9)
    tracemalloc.start()
    try:
        text = 'def p(X: "5000 2"):\n    X[:, 0] = X[:, 1]\n    return X, X[:, 0], X[:, 1:]\n'
        assert choose(Program.from_text(text).trace()).layout.rows == 5000
        with pytest.raises(ValueError, match="a head with a sum over 200000 numbers would take 960 GB"):
            choose(Program.from_text('def p(X: "200000 1"):\n    return X.T\n').trace())
        # Numbers that change with the index, once for every entry of a diagonal.
        text = 'def p(W: "300 300"):\n    for t in range(300):\n        W = cos(t * t) * W\n    return W\n'
        assert Program.from_text(text).trace().body
        text = """
def p(W: "300 300"):
    for t in range(300):
        for k in range(2):
            W = cos(t * t) * W
    return W
"""
        assert Program.from_text(text).trace().body
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_infinite_coefficients_are_refused():
    """Also where they only become infinite when words are put together."""
    for body in (
        "return 1e200 * (1e200 * X)",
        "return X @ (1e200 * eye(d)) @ (1e200 * eye(d))",
        "return X @ (1e200 * ones(d, d)) @ (1e200 * ones(d, d))",
        "for t in range(3):\n    w = 1e200 * (1e200 * w)\nreturn w",
        "A = eye(d)\nfor t in range(400):\n    A = 10 * A\nreturn X @ A",
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
