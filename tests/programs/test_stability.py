"""Loops that carry a value twice: what is accepted stays right for any number of iterations."""

import numpy as np
import pytest

from descant.programs import CompilerError, Program, compile_program
from descant.programs._compile import PREFERENCES, candidate, candidates, choose, finish
from descant.programs.graph import Rewriting, build
from descant.programs.schedule import (
    Strategy,
    _generations,
    evaluate_schedule,
    generations,
    mixes_generations,
    unstable_loops,
)

TWO_SIDED = """
def two_sided(X: "n d", Y: "n m", Z: "k m", W: "d k" = 0, *, eta=0.5, T=50):
    for t in range(T):
        W = W + eta * X.T @ (Y - X @ W @ Z) @ Z.T
    return W
"""
# The same with a step size of its own in each iteration, written out.
WRITTEN_OUT = TWO_SIDED.replace("eta * X.T", "eta * (1 + 0.8 * cos(t)) * X.T")
SIZES = {"n": 10, "d": 3, "k": 2, "m": 6}
# Bodies that contract for A and B of norm 1/2; W is square, so that it can be read either way.
BODIES = [
    # Copies that are mixed would be multiplied by 1 + 1.2 where the program contracts with 1 - 1.2.
    "W = W + C - 1.2 * (A @ A.T + 0.75 * eye(d)) @ W @ (B @ B.T + 0.75 * eye(d))",
    "W = C + A @ W @ B",
    "W = C + A @ W.T @ B",
    "W = C + 0.5 * W - 0.4 * A @ W @ B",
    "W = C + 0.5 * W.T - 0.4 * A @ W @ B",
    "W = C + 0.3 * W - 0.3 * W.T + 0.5 * A @ W.T @ B",
    "W = C + 0.4 * A @ W @ B + 0.4 * B @ W.T @ A",
    "W = W - 0.5 * (W - A @ W @ B - C)",
    "W = W - 0.9 * (W + A @ W @ A.T - C)",
    "V = C + A @ V @ B + 0.1 * W.T\n        W = C.T + 0.5 * B @ W @ A + 0.2 * V.T",
    "V = C + A @ W @ B\n        W = C.T + 0.5 * B @ V.T @ A",
]


def inputs(seed=0):
    random = np.random.default_rng(seed)
    x, z = random.standard_normal((10, 3)), random.standard_normal((2, 6))
    return {
        "X": x / np.linalg.norm(x, 2),
        "Z": z / np.linalg.norm(z, 2),
        "Y": random.standard_normal((10, 6)),
        "W": np.zeros((3, 2)),
    }


def copying(traced):
    """The candidate that carries both a value and its transpose."""
    return candidate(traced, build(traced, Rewriting(expand=True)), Strategy(both=True))


def test_two_sided_descent_is_right_after_a_thousand_iterations():
    given = inputs()
    compiled = compile_program(Program.from_text(TWO_SIDED), T=1000, **SIZES)
    w = given["W"]
    for _ in range(1000):
        w = w + 0.5 * given["X"].T @ (given["Y"] - given["X"] @ w @ given["Z"]) @ given["Z"].T
    np.testing.assert_allclose(compiled.run(given)["W"], w, rtol=0, atol=1e-13)


def test_mixed_copies_are_refused_by_the_proof_because_they_diverge():
    given = inputs()
    traced = Program.from_text(TWO_SIDED).trace(T=150, **SIZES)
    mixed = copying(traced)
    assert unstable_loops(mixed.schedule)
    truth = traced.evaluate(given).results[0]
    assert np.abs(truth).max() < 10
    assert np.abs(evaluate_schedule(mixed.schedule, given)[0] - truth).max() > 1e6
    with pytest.raises(CompilerError, match="mixes two copies"):
        finish(mixed)


@pytest.mark.parametrize("body", BODIES)
def test_whatever_is_accepted_is_right_after_a_thousand_iterations(body):
    text = f"""
def p(A: "d d", B: "d d", C: "d d", *, T=1000):
    W = zeros(d, d)
    V = zeros(d, d)
    for t in range(T):
        {body}
    return W, V
"""
    random = np.random.default_rng(1)
    given = {name: random.standard_normal((4, 4)) for name in "ABC"}
    given |= {name: 0.5 * given[name] / np.linalg.norm(given[name], 2) for name in "AB"}
    traced = Program.from_text(text).trace(d=4)
    truth = traced.evaluate(given).results
    for expand in (False, True):
        found = candidate(traced, build(traced, Rewriting(expand=expand)), Strategy(both=True))
        if not unstable_loops(found.schedule):
            for ours, true in zip(evaluate_schedule(found.schedule, given), truth, strict=True):
                np.testing.assert_allclose(ours, true, rtol=0, atol=1e-13)
    compiled = compile_program(Program.from_text(text), d=4).run(given)
    for ours, true in zip(compiled.values(), truth, strict=True):
        np.testing.assert_allclose(ours, true, rtol=0, atol=1e-13)


def test_copies_that_are_kept_apart_are_accepted():
    # Each copy is made from the other one alone, so both are runs of the program.
    text = """
def p(A: "d d", B: "d d", C: "d d", *, T=9):
    W = zeros(d, d)
    for t in range(T):
        W = C + A @ W @ B
    return W
"""
    found = copying(Program.from_text(text).trace(d=4))
    assert any(loop.copies for loop in found.schedule.steps if hasattr(loop, "copies"))
    assert not unstable_loops(found.schedule)


def test_copies_that_are_mixed_block_by_block_are_refused_because_they_diverge():
    given = inputs()
    traced = Program.from_text(WRITTEN_OUT).trace(T=150, **SIZES)
    mixed = candidate(traced, build(traced, Rewriting(expand=True, everywhere=True, shared=True)), Strategy())
    assert not unstable_loops(mixed.schedule) and mixes_generations(mixed.schedule)
    truth = traced.evaluate(given).results[0]
    assert np.abs(truth).max() < 10
    assert np.abs(evaluate_schedule(mixed.schedule, given)[0] - truth).max() > 1e6
    with pytest.raises(CompilerError, match="blocks mix copies"):
        finish(mixed)


@pytest.mark.parametrize("prefer", PREFERENCES)
def test_a_loop_that_is_written_out_is_right_however_it_is_built(prefer):
    given = inputs()
    traced = Program.from_text(WRITTEN_OUT).trace(T=60, **SIZES)
    truth = traced.evaluate(given).results[0]
    best = choose(traced, prefer=prefer)
    np.testing.assert_allclose(evaluate_schedule(best.schedule, given)[0], truth, rtol=0, atol=1e-13)


def test_where_all_ways_mix_copies_there_is_one_without_any(monkeypatch):
    text = """
def p(A: "d d", B: "d d", W: "d d", *, T=30):
    for t in range(T):
        G = A @ W + 0.1 * cos(t) * B
        W = 0.5 * W + 0.2 * B @ G @ A + 0.1 * A @ G.T @ B
        if t * t % 7 == 1:
            W = W.T
    return W
"""
    random = np.random.default_rng(0)
    given = {name: random.standard_normal((3, 3)) for name in "ABW"}
    given = {name: array / np.linalg.norm(array, 2) for name, array in given.items()}
    traced = Program.from_text(text).trace(d=3)
    (best,) = candidates(traced)
    assert generations(best.schedule) == 0
    truth = traced.evaluate(given).results[0]
    np.testing.assert_allclose(evaluate_schedule(best.schedule, given)[0], truth, rtol=0, atol=1e-14)
    monkeypatch.setattr(_generations, "MOST", 10**9)
    assert min(generations(each.schedule) for each in candidates(traced)) > 20
