"""What programs mean: every part of the language against NumPy."""

import numpy as np
import pytest

from descant.programs import Program, ProgramError
from descant.programs.graph import Rewriting, build, evaluate_graph
from tests.support.program_bodies import repeats, trace


def evaluated(body: str, **settings) -> list[np.ndarray]:
    """A program on fixed inputs: directly, and through its sums of words."""
    traced = trace(body, **settings)
    direct = traced.evaluate(INPUTS).results
    for a, b in zip(direct, evaluate_graph(build(traced, Rewriting(expand=True)), INPUTS), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    return direct


RANDOM = np.random.default_rng(3)
X, Y, W = (RANDOM.standard_normal(shape) for shape in ((4, 3), (4, 1), (3, 1)))
S = float(Y[:, 0] @ Y[:, 0])
INPUTS = {"X": X, "y": Y, "w": W}
VALUES = {
    "number times column": ("a = y.T @ y\nreturn a * w, w * a", [S * W] * 2),
    "number times row": ("return (y.T @ y) * w.T", [S * W.T]),
    "number times matrix": ("a = y.T @ y\nreturn a * X, X.T * a", [S * X, S * X.T]),
    "number times number": ("a = y.T @ y\nreturn a * a, a ** 3", [(Y.T @ Y) ** 2, (Y.T @ Y) ** 3]),
    "hadamard": ("return X * (y @ w.T), hadamard(X, X).T, X.T * X.T", [X * (Y @ W.T), (X * X).T, (X * X).T]),
    "hadamard of columns": ("return y * y, y.T * y.T", [Y * Y, (Y * Y).T]),
    "mask": ("M = constant([[1, 2, 0], [3, 4, 0], [0, 1, 1], [5, 6, 7]])\nreturn M * X, X * M",
             [np.array([[1, 2, 0], [3, 4, 0], [0, 1, 1], [5, 6, 7]]) * X] * 2),
    "powers": ("return X ** 0, X ** 1, X ** 2, X ** 5, w ** 4", [X**0, X, X**2, X**5, W**4]),
    "diag": ("return diag(w), diag(w.T), diag(X.T @ X), diag(y.T @ y)",
             [np.diag(W[:, 0]), np.diag(W[:, 0]), np.diag(X.T @ X)[:, None], Y.T @ Y]),
    "trace": ("return trace(X.T @ X)", [np.trace(X.T @ X) * np.ones((1, 1))]),
    "sum": ("return sum(X), sum(X, 0), sum(X, axis=1)",
            [X.sum(keepdims=True), X.sum(0, keepdims=True), X.sum(1)[:, None]]),
    "sum of a list": ("return sum([X, 2 * X]), sum([1, 2]) * X", [3 * X] * 2),
    "mean": ("return mean(X), mean(X, 0), mean(X, axis=1)",
             [X.mean(keepdims=True), X.mean(0, keepdims=True), X.mean(1)[:, None]]),
    "reciprocal": ("return reciprocal(y.T @ y, 8, 0.1)", [1 / (Y.T @ Y)]),
    "reciprocal from a value": ("return reciprocal(y.T @ y, steps=6, start=0.2 * eye(1))", [1 / (Y.T @ Y)]),
    "rsqrt": ("return rsqrt(y.T @ y, 8, 0.3)", [(Y.T @ Y) ** -0.5]),
    "alternating signs": ("return (-1) ** 5001 * X, 2 ** -600 * (2 ** 600 * X)", [-X, X]),
    "chained assignment": ("a = b = X + X\nreturn a, b", [2 * X] * 2),
    "sums that begin": ("return sum([X, X], X), sum([1, 2], 3) * X", [3 * X, 6 * X]),
    "rows": ("return X[1], X[-1], X[2, 0], X[:, -1]", [X[1:2], X[3:], X[2:3, :1], X[:, 2:]]),
    "branches": (
        "for t in range(T):\n    if t == 0:\n        w = 2 * w\n    elif t % 2 == 1 and not t > 2 or t == 17:\n"
        "        w = w + X.T @ y\n    else:\n        pass\nreturn w, X if 0 < T <= 3 else y",
        [2 * W + X.T @ Y, X],
    ),
    "inner helper": (
        "def step(a, c=2):\n    v = c * a + w\n    return v, v.T\nv = X.T @ y\na, b = step(v)\nw = 3 * w\n"
        "return a, b, v",
        [2 * X.T @ Y + W, (2 * X.T @ Y + W).T, X.T @ Y],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_numpy(name):
    body, expected = VALUES[name]
    for found, value in zip(evaluated(body), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12)


def test_reciprocal_and_rsqrt_converge_as_documented():
    """And are repeats, whatever the number of steps."""
    s = S
    for steps in (2, 3, 4):
        (found,) = evaluated(f"return reciprocal(y.T @ y, {steps}, 0.1)")
        assert 1 - found[0, 0] * s == pytest.approx((1 - 0.1 * s) ** (2**steps), rel=1e-9)
        (found,) = evaluated(f"return rsqrt(y.T @ y, {steps}, 0.3)")
        error = 1 - 0.3 * s**0.5
        for _ in range(steps):
            error = error**2 * (3 - error) / 2
        assert 1 - found[0, 0] * s**0.5 == pytest.approx(error, rel=1e-9)
    assert repeats(trace("return reciprocal(y.T @ y, 40, 0.1)")) == [40]
    assert repeats(trace("return rsqrt(y.T @ y, 40, 0.1)")) == [40]


HELPED = """
from descant.programs import eye


def gram(A, *, lam=0.5):
    return twice(A.T @ A) / 2 + lam * eye(2)


def twice(A):
    B = A
    for k in range(1):
        B = B + A
    return B


def p(X: "n 2", *, T=2):
    G = gram(X)
    for t in range(T):
        G = G + gram(X, lam=t)
    return G
"""


def test_helpers_above_the_program():
    x = X[:, :2]
    (found,) = Program.from_text(HELPED).trace(n=4).evaluate({"X": x}).results
    np.testing.assert_allclose(found, 3 * x.T @ x + 1.5 * np.eye(2))
    with pytest.raises(ProgramError, match="line 13, column 22: n is not defined here"):
        Program.from_text(HELPED.replace("return B", "return B + zeros(n, n)")).trace(n=2)


PLACED = """
def p(X: "n d", O: "n 2" = 0):
    P = O
    for t in range(n):
        O[t] = X[t] @ X[0:2].T
        O[t, 1] += X[t, 0]
    O[:, 0] -= X[:, -1]
    O[1:3, 1] = 5
    return O, P
"""


def test_parts_are_read_and_written_as_in_numpy(keys):
    """But a name that held the matrix before keeps its value."""
    import jax

    x = np.asarray(jax.random.normal(keys(), (4, 3)))
    o = x @ x[:2].T
    o[:, 1] += x[:, 0]
    o[:, 0] -= x[:, -1]
    o[1:3, 1] = 5
    traced = Program.from_text(PLACED).trace(n=4, d=3)
    for results in (
        traced.evaluate({"X": x}).results,
        evaluate_graph(build(traced, Rewriting(expand=True)), {"X": x, "O": 0 * o}),
    ):
        np.testing.assert_allclose(results[0], o, rtol=1e-12)
        assert not results[1].any()
