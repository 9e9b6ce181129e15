"""A compiled program is a start: it trains, stays a program, and says what changed."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression
from descant.measure import risk
from descant.programs import (
    Program,
    ProgramPredictor,
    changes,
    compile_program,
    described_again,
    free_program,
    load,
    starting_program,
)
from descant.programs.tuning._unroll import MOST_BLOCKS, unrolled
from descant.training import train
from tests.support.commands import run

TASK = LinearRegression(d=3, n=10)
SIZES = {"n": 10, "d": 3}
STARTS = {"ridge": {"T": 3}, "momentum": {"T": 2}, "gd_beta": {}, "gd_plus_plus": {"T": 2}, "chebyshev": {"T": 2}}


def numpy_prediction(name: str, settings: dict, prompt) -> float:
    """What the program says of a prompt, by direct evaluation."""
    from descant.programs import find

    program = find(name)
    given = {
        "X": np.asarray(prompt.x),
        "y": np.asarray(prompt.y)[:, None],
        "query": np.asarray(prompt.x_query)[:, None],
    }
    given["Gamma"] = np.eye(prompt.d)
    known = {each.name for each in program.signature.parameters}
    traced = program.trace({**SIZES, **settings})
    (value,) = traced.evaluate({k: v for k, v in given.items() if k in known}).results
    return float(value[0, 0]) if "query" in known else float(value[:, 0] @ np.asarray(prompt.x_query))


@pytest.mark.parametrize("name", STARTS)
def test_the_start_is_the_program(name):
    prompt = TASK.sample(key=jax.random.key(3))
    compiled, expected = starting_program(name, STARTS[name], 10, 3), numpy_prediction(name, STARTS[name], prompt)
    assert float(ProgramPredictor.of(compiled)(prompt)) == pytest.approx(expected, rel=1e-12)
    assert float(ProgramPredictor.of(unrolled(compiled))(prompt)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("free", "tied"), [("coefficients", False), ("matrices", True), ("all", True)])
def test_nothing_moved_is_the_same_bits(free, tied):
    prompt = TASK.sample(key=jax.random.key(3))
    start = free_program(compile_program("ridge", {**SIZES, "T": 2}), TASK, free, tied=tied)
    assert float(start(prompt)) == pytest.approx(numpy_prediction("ridge", {"T": 2}, prompt), rel=1e-12)
    pairs = zip(*map(jax.tree.leaves, (start.settled(), start.compiled)), strict=True)
    assert all(np.array_equal(*each) for each in pairs)


def test_unrolled_descent_learns_its_step_sizes():
    """Better than every constant step size of the same depth, as Chebyshev's are; one loop has one set of numbers."""
    settings = {**SIZES, "T": 3, "lam": 0.0}
    start = free_program(compile_program("ridge", {**settings, "eta": 0.01}), TASK)
    constant = [
        risk(ProgramPredictor.of(compile_program("ridge", {**settings, "eta": eta})), TASK, samples=16_384).value
        for eta in (0.04, 0.05, 0.06, 0.07, 0.08)
    ]
    assert constant.index(min(constant)) in (1, 2, 3)
    before = risk(start, TASK, samples=16_384)
    found = train(
        start, TASK, solver="adam", lr=0.03, steps=200, batch=128, schedule="cosine", dtype=jnp.float64, samples=16_384
    )
    assert before.value > 1.5
    assert found.risk.value + 3 * found.risk.standard_error < 0.85 * min(constant)
    moved = changes(start, found.model.settled())
    assert [each.where for each in moved][::3] == [f"block 2, iteration {t}" for t in (1, 2, 3)]
    etas = [each for each in moved if each.name == "eta"]
    assert [each.what for each in etas] == ["w ← Xᵀ y"] * 3
    assert all(each.before == 0.01 for each in etas) and len({each.after for each in etas}) == 3
    # In the first iteration w is zero: nothing can be learnt of what multiplies it.
    assert moved[0].before == moved[0].after == 1.0


def test_zeros_stay_zeros_and_the_program_keeps_its_words():
    start = free_program(compile_program("momentum", {**SIZES, "T": 3}), TASK, tied=True)
    moved = eqx.tree_at(lambda model: model.moved, start, jnp.ones_like(start.moved))
    after = described_again(moved.settled(), "coefficients")
    for old, new in zip(*map(jax.tree.leaves, (start.compiled.network, after.network)), strict=True):
        assert not np.any(np.asarray(new)[np.asarray(old) == 0])
    assert "keep Xᵀ y, Xᵀ X" in after.explain()
    assert "0.995 w" in start.compiled.explain() and "0.995 w" not in after.explain()


def test_matrices_become_preconditioners():
    start = free_program(compile_program("ridge", {**SIZES, "T": 2}), TASK, "matrices", tied=True)
    moved = eqx.tree_at(lambda model: model.moved, start, jnp.linspace(0, 0.1, start.moved.size))
    left = [each for each in changes(start, moved.settled()) if each.what == "Xᵀ y, Xᵀ X ← left factor constant"]
    assert len(left) == 1 and left[0].before == 1.0 and "singular values" in left[0].matrix


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('def f(X: "n d"):\n    return X.T @ X', "takes X (n x d) and y (n x 1)"),
        ('def f(X: "n d", y: "n 1", M: "n d"):\n    return M.T @ y', "M (10 x 3), which no prompt has"),
        ('def f(X: "n d", y: "n 1"):\n    return X.T @ X', "returns nothing of 3 x 1"),
        ('def f(X: "n d", y: "n 1", query: "n 1"):\n    return query.T @ y', "expected 3 x 1, a query for X"),
        ('def f(X: "n d", y: "n 2"):\n    return X.T @ y', "expected 10 x 1, the labels of X"),
    ],
)
def test_programs_that_do_not_fit_get_a_sentence(text, sentence):
    with pytest.raises(ValueError) as found:
        ProgramPredictor.of(
            compile_program(Program.from_text(text), {k: v for k, v in SIZES.items() if f"{k}" in text})
        )
    assert sentence in str(found.value)


def test_other_sizes_and_too_many_blocks_get_a_sentence():
    compiled = compile_program("ridge", n=8, d=3, T=MOST_BLOCKS)
    with pytest.raises(ValueError, match="was compiled for n = 8 and d = 3"):
        free_program(compiled, TASK, tied=True)
    with pytest.raises(ValueError, match="train them --tied"):
        free_program(compiled, LinearRegression(d=3, n=8))


def test_train_from_a_program_is_a_run_like_others(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def descant(*words) -> tuple[int, str, str]:
        return run(*map(str, words), capsys=capsys)

    flags = ["--d", 2, "--n", 6, "--steps", 30, "--batch", 32, "--samples", 500, "--out", tmp_path / "run", "--json"]
    command = ["train", "--from", "ridge", "--set", "T=2", "eta=0.02", *flags]
    status, text, err = descant(*command)
    assert status == 0, err
    first = json.loads(text)
    assert first["start"]["risk"] > first["risk"] and first["start"]["standard_error"] > 0
    assert [row["name"] for row in first["changes"]].count("eta") == 2
    assert json.loads(descant(*command)[1]) == first  # found, not repeated
    again = json.loads(descant("eval", tmp_path / "run", "--samples", 500, "--json")[1])
    assert again["model"] == "ridge"
    compiled = load(tmp_path / "run")
    assert "block 3" in compiled.explain()
    inputs = {"X": np.ones((6, 2)), "y": np.ones((6, 1))}
    np.savez(tmp_path / "inputs.npz", **inputs)
    descant("run", tmp_path / "run", "--inputs", tmp_path / "inputs.npz", "--out", tmp_path / "w.npz")
    assert np.allclose(np.load(tmp_path / "w.npz")["w"], compiled.run(inputs)["w"])
    status, _, err = descant("train", "lsa", *command[1:])
    assert status == 2 and "leave one of them out" in err
