"""Loops that become repeats: what they must not mistake, and those that differ in their index alone."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from descant.programs import ProgramError, compile_program
from descant.programs._compile import candidates
from descant.programs.weights import evaluate_weights, link
from tests.programs.test_fuzz import SEED
from tests.support import ROOT, looping_programs
from tests.support.index_loops import ROLLED, inputs_of, program


def by_numpy(body: str, inputs, **settings):
    names: dict = {"constant": np.array, "eye": np.eye, "hstack": np.hstack, "vstack": np.vstack, "cos": np.cos}
    exec("def p(X, y, w, eta, T, n, d):\n" + "".join(f"    {line}\n" for line in body.split("\n")), names)
    found = names["p"](**inputs, **{"eta": 0.1, "T": 3, "n": 4, "d": 3, **settings})
    return found if isinstance(found, tuple) else (found,)


def agree(found, expected, tolerance=1e-12):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize(
    "body",
    [
        "a = X\nfor t in range(T):\n    a = w + w\n    w = w + a\nreturn a, w",
        "a = y\nfor t in range(T):\n    a = X @ w\n    b = X.T @ a\n    a = b + b\n    w = w + a\nreturn a",
        "a = X\nb = y\nfor t in range(T):\n    a = b\n    b = X @ w + y\n    w = w + X.T @ b\nreturn a, b, w",
        "a = X\nfor t in range(2):\n    a = y\n    for k in range(T):\n        a = 2 * w\n        w = a + a\nreturn a",
        "a = X\nfor t in range(2):\n    for k in range(T):\n        a = w + w\n        w = w + a\nreturn a, w",
        "for t in range(T):\n    a = X @ w\n    w = w + X.T @ (y - a)\nreturn a, w",  # bound only inside
        "a = X\nfor t in range(T):\n    a = a[:, 0:1]\n    w = w + X.T @ a\nreturn a, w",  # another shape from then on
        "a = X\nfor t in range(1):\n    a = w + w\nreturn a",
        "a = X\nfor t in range(0):\n    a = w + w\nreturn a, w",
        "a = X\nfor t in range(T):\n    for k in range(1):\n        a = w + w\n    w = w + a\nreturn a, w",
    ],
)
def test_a_name_may_change_its_shape_at_a_loop(body):
    compiled = compile_program(program(body), n=4, d=3)
    traced = program(body).trace(n=4, d=3)
    inputs = inputs_of(traced)
    expected = by_numpy(body, inputs)
    agree(traced.evaluate(inputs).results, expected)
    agree(list(compiled.evaluate(inputs).values()), expected)


@pytest.mark.parametrize(
    "body",
    [
        "a = X\nfor t in range(T):\n    for k in range(3):\n        w = w + X.T @ (a @ w)\n    a = 0.5 * a\nreturn w",
        "a = X\nb = X\nfor t in range(T):\n    for k in range(2):\n        w = w + a.T @ (b @ w) + X.T @ y\n"
        "    a = b - 0.1 * a\n    b = 0.3 * b\nreturn w, a",
        "a = X\nfor t in range(T):\n    for k in range(2):\n        for l in range(3):\n"
        "            w = a.T @ X @ w + w\n    a = 0.5 * X\nreturn w",
    ],
)
def test_two_names_may_hold_one_value_in_the_first_iteration(body):
    """What the inner loop is handed is one value then, and two later; the iterations do the same all the same."""
    few, many = (program(body).trace(n=4, d=3, T=T) for T in (3, 30))
    assert len(many.body.instructions) == len(few.body.instructions) < 15
    inputs = inputs_of(few)
    expected = by_numpy(body, inputs)
    agree(few.evaluate(inputs).results, expected)
    agree(list(compile_program(program(body), n=4, d=3, T=3).evaluate(inputs).values()), expected)


# After this, D holds a value that nothing reads unless the rest does.
DEAD = "for i in range(2):\n    D = w + w\n    w = 0.5 * w\n"


@pytest.mark.parametrize(
    "body",
    [
        # What the fuzzer found: X holds a value of the inner loop when it is bound to another one, of another shape.
        "for t in range(3, 0, -1):\n    Z = hstack([X.T @ X @ (cos(t) * eye(d)), eye(d) - X[1:, :]])\n"
        "    for i in range(2):\n        w = w + hstack([w, w])[:, :1]\n        Z = eye(d)\nreturn w",
        "for t in range(T):\n    w = cos(t) * w\n    Z = w + w\n"
        "    for i in range(2):\n        w = w + 0.1 * Z\n        Z = 2 * w\nreturn w",
        "Z = y\nfor t in range(T):\n    w = cos(t) * w\n    for i in range(2):\n        w = w + X.T @ (X @ w)\n"
        "        Z = eye(d)\n        for k in range(3):\n            Z = Z @ X.T\n            Z = Z @ X\nreturn w",
        "Z = X\nV = y\nfor t in range(T):\n    w = cos(t) * w\n    V = Z\n"
        "    for i in range(2):\n        Z = w @ w.T\n        w = w + 0.1 * w\nreturn w",
        # Names that hand such a value to each other, or begin with it.
        DEAD + "Z = w\nfor t in range(T):\n    w = cos(t) * w\n    Z = D\nreturn w",
        DEAD + "a = w\nb = X[0:1, :].T\nfor t in range(2):\n    w = w + b\n    b = a\n    a = D\nreturn w",
        DEAD + "a = w\nb = X[0:1, :].T\nfor t in range(T):\n    w = w + b\n    b = a\n    a = D\nreturn w",
        DEAD + "a = w\nb = 2 * w\nfor t in range(2):\n    w = w + b\n    b = a\n    a = D\n    D = 2 * w\nreturn w",
        DEAD + "a = w\nb = 2 * w\nfor t in range(T):\n    w = t * w + b\n    b = a\n    a = D\n    D = 2 * w\nreturn w",
        DEAD + "a = w\nfor t in range(2):\n    w = t * w + a\n    a = D\nreturn w, a",
        DEAD + "a = w\nfor t in range(1):\n    w = w + a\n    a = D\nreturn w",
    ],
)
@pytest.mark.parametrize("T", [2, 3, 5])
def test_names_may_hold_what_nothing_reads(body, T):
    traced = program(body).trace(n=4, d=3, T=T)
    inputs = inputs_of(traced)
    expected = by_numpy(body, inputs, T=T)
    agree(traced.evaluate(inputs).results, expected)
    for other in traced.others:
        agree(replace(traced, body=other, others=()).evaluate(inputs).results, expected)
    if T == 3:
        compiled = compile_program(program(body), n=4, d=3, T=T)
        agree(list(compiled.evaluate(inputs).values()), expected, 1e-10)


# None of these comes to rest, so that one iteration before is something else in the end too.
BEFORE = {
    "one": "V = X.T @ y\n"
    "for t in range(T):\n    p = w\n    w = X.T @ y + 0.1 * V - p\n    V = 0.1 * (V - p)\nreturn w, V, p",
    "two": "for t in range(T):\n    p = w\n    w = X.T @ y - (2 * w - p)\n    q = 2 * p\n    r = p\nreturn q, p, r",
    "nothing else reads it": "a = X\n"
    "for t in range(T):\n    p = a\n    a = w + w\n    w = 0.1 * a - 1.2 * w\nreturn p, w",
    "handed on": "b = w\nfor t in range(T):\n    p = b\n    b = w\n    w = -b - p\nreturn p, w",
    "inner": "for k in range(2):\n    for t in range(T):\n        p = w\n        w = X.T @ y - w\n"
    "    w = w + 0.5 * p\nreturn w, p",
}


@pytest.mark.parametrize("T", [1, 2, 3, 200])
@pytest.mark.parametrize("name", BEFORE)
def test_what_a_name_held_one_iteration_before_may_be_read_after_the_loop(name, T):
    compiled = compile_program(program(BEFORE[name]), n=4, d=3, T=T)
    traced = program(BEFORE[name]).trace(n=4, d=3, T=T)
    assert repeats(traced) == ([2] if name == "inner" else [T]) or T == 1
    inputs = inputs_of(traced)
    expected = by_numpy(BEFORE[name], inputs, T=T)
    agree(traced.evaluate(inputs).results, expected)
    agree(list(compiled.evaluate(inputs).values()), expected, 1e-10)
    agree(list(compiled.run(inputs).values()), expected, 1e-3)


@pytest.mark.parametrize(
    "body",
    [
        "V = w\nfor t in range(T):\n    for i in range(2):\n        w = w - 0.1 * V\n        V = 0.5 * V + w\nreturn w",
        "V = w\nfor t in range(T):\n    w = w - 0.1 * V\n    for i in range(2):\n        V = 0.5 * V + w\nreturn w",
        "V = X\nfor t in range(T):\n    for i in range(3):\n        V = 0.9 * V\n    w = 0.1 * X.T @ (X @ w)\nreturn w",
        "V = w\nfor t in range(T):\n    for k in range(3):\n        w = w - 0.1 * V\n"
        "        for i in range(2):\n            V = 0.5 * V + w\n    w = 0.5 * w\nreturn w",
    ],
)
@pytest.mark.parametrize("T", [2, 3, 20])
def test_what_nothing_reads_after_the_last_iteration_is_no_difference(body, T):
    traced = program(body).trace(n=4, d=3, T=T)
    assert repeats(traced) == [T]
    inputs = inputs_of(traced)
    expected = by_numpy(body, inputs, T=T)
    agree(traced.evaluate(inputs).results, expected)
    agree(list(compile_program(program(body), n=4, d=3, T=T).evaluate(inputs).values()), expected)


@pytest.mark.parametrize("name", ["keeps_the_first", "names_the_first", "breaks", "breaks_inside", "skips"])
def test_all_of_python_may_stand_in_a_loop(name):
    """A value of the first iteration that later ones read is no value from outside of the loop."""
    written = getattr(looping_programs, name)
    traced = written.trace(n=4, d=3)
    inputs = inputs_of(traced)
    found = written.front_end.function(**inputs)
    expected = found if isinstance(found, tuple) else (found,)
    for variant in traced.variants():
        agree(variant.evaluate(inputs).results, expected)
    agree(list(compile_program(written, n=4, d=3).evaluate(inputs).values()), expected)


@pytest.mark.parametrize(
    "body",
    [
        "for t in range(10**9):\n    eta = eta + 1\nreturn w",
        "for t in range(10**30):\n    eta = eta + 1\nreturn w",
        "for t in range(300):\n    for k in range(300):\n        eta = 1\nreturn w",
        "for t in range(200):\n    w = w + w\n    w = w - w\nreturn w",
    ],
)
def test_long_loops_get_a_sentence(body, monkeypatch):
    monkeypatch.setattr("descant.programs.language._trace.LONGEST", 500)
    with pytest.raises(ProgramError, match="more than 500 "):
        program(body).trace(n=2, d=2)


def repeats(traced) -> list[int]:
    return [each.attribute.count for each in traced.body.instructions if each.op == "repeat"]


@pytest.mark.parametrize("name", ROLLED)
def test_loops_that_differ_in_their_index_are_rolled_up(name):
    traced = program(ROLLED[name]).trace(n=4, d=3)
    inputs = inputs_of(traced)
    copies = {key: value.copy() for key, value in inputs.items()}
    copied = ROLLED[name].replace("O = X", "O = X.copy()")
    expected = traced.evaluate(inputs)
    agree(expected.results, by_numpy(copied, copies))
    assert 1 in [len(repeats(replace(traced, body=body))) for body in traced.others]
    for body in traced.others:
        variant = replace(traced, body=body, others=())
        agree(variant.evaluate(inputs).results, expected.results, 1e-14)


def test_what_is_turned_is_only_moved():
    """To the last bit, at every level."""
    body = (
        "O = X\nfor t in range(n - 1):\n    O[n - t - 1:n - t] = X[t + 1:t + 2, :]\n    y[t + 1:t + 2] = y[t:t + 1, :]"
    )
    traced = program(body + "\nreturn O, y").trace(n=5, d=3)
    x = np.array([[1e200], [3e-200], [1 / 3], [-0.1], [7.7e-310]]) * np.array([1.0, 0.3, 0.7])
    inputs = {"X": x, "y": x[:, :1] / 3, "w": np.zeros((3, 1))}
    expected = np.vstack([x[:1], x[:0:-1]]), np.repeat(inputs["y"][:1], 5, axis=0)
    for body in traced.others:
        for best in candidates(replace(traced, body=body, others=())):
            weights = link(best.schedule, best.layout)
            for a, b in zip(evaluate_weights(best.schedule, best.layout, weights, inputs), expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "body",
    [
        "for t in range(3):\n    w = w + X[t * t % 3:t * t % 3 + 1, :].T\nreturn w",  # no even steps
        "for t in range(3):\n    w = w + X[0:t + 1, :].T @ y[0:t + 1, :]\nreturn w",  # grows
        "for t in range(3):\n    y[t:t + 1] = y[0:1, :]\nreturn y",  # read where it is not written
        "for t in range(3):\n    y[t:t + 1] = w[0:1, :]\n    w = w + X.T @ y\nreturn w",  # read as a whole
    ],
)  # fmt: skip
def test_other_loops_stay_written_out(body):
    traced = program(body).trace(n=4, d=3)
    assert not traced.others and repeats(traced) == []
    inputs = inputs_of(traced)
    agree(traced.evaluate(inputs).results, by_numpy(body, {key: value.copy() for key, value in inputs.items()}))


def test_what_rolling_up_saves():
    """Sizes of networks, in an interpreter of its own, where types are not checked."""
    command = [sys.executable, "-m", "tests.support.index_loops", str(SEED), "150"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ})
    assert done.returncode == 0, f"DESCANT_TEST_SEED={SEED}\n{done.stdout}{done.stderr}"
    found = json.loads(done.stdout)
    parameters = found["parameters"]
    assert parameters["lms"] < 60_000  # 496 million when it is written out
    assert parameters["kalman"] < 25_000
    # One step size per iteration: as narrow and as deep as with a constant one; or the same weights for all steps.
    assert parameters["ridge"] <= 11 * 2 * 3 * 7 * (7 + 20) and parameters["chebyshev"] <= 12 * 2 * 3 * 8 * (8 + 20)
    assert parameters["ridge, 10 steps"] < 7_000 and parameters["ridge, 100 steps"] < 14_000
    assert found["loops"] > 60 and found["worst"] < 1e-13
    assert all(error < 1e-13 for error in found["errors"].values()), found["errors"]
