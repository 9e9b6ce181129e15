"""From weights back to text: the same weights again, the same text again, and numbers that a training moved.

The seed is fixed, so that a run can be repeated; DESCANT_TEST_SEED=... draws other programs.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression
from descant.programs import (
    CompiledProgram,
    Program,
    ProgramError,
    compile_as_written,
    compile_program,
    decompile,
    described_again,
    free_program,
)
from tests.support import ROOT
from tests.support.commands import run
from tests.support.decompile_worker import check_fixed_point, distance, random_inputs

SEED = int(os.environ.get("DESCANT_TEST_SEED") or 20261116)
SIZES = {"n": 6, "d": 3}
TASK = LinearRegression(d=3, n=6)


def there_and_back(seed: int, examples: int) -> dict[str, int]:
    """In an interpreter of its own: type checks would take most of the time."""
    command = [sys.executable, "-m", "tests.support.decompile_worker", str(seed), str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ})
    assert done.returncode == 0, f"DESCANT_TEST_SEED={SEED}\n{' '.join(command)}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def test_the_library_and_random_programs_come_back():
    found = there_and_back(SEED, 105)
    assert found["library"] >= 18 and found["random"] == 105 and found["as written"] >= 5


def test_the_last_block_of_a_loop_keeps_the_order_of_its_heads():
    """V and W are rewritten where nothing of them is left: their columns say nothing about which was written first."""
    text = """
def program(X: "d d", A: "1 d", V: "d d" = 0, W: "d d" = 0, *, T=2):
    for t in range(T):
        V = 0.2 * (((W.T - V.T) @ (W.T @ ones(d, 1))) @ A)
        W = 0.7 * (V @ (W.T - W @ X))
    return V, V.T @ (W @ W.T)
"""
    check_fixed_point(compile_program(Program.from_text(text), d=2, T=20))


def test_columns_of_zeros_are_no_head():
    """They would be a head of their own here, because H has no more columns than Y and A."""
    text = """
def program(Y: "k 1", A: "k d"):
    B = hstack([A - Y @ ones(1, d), zeros(k, 3)])
    return B @ B.T @ Y
"""
    compiled = compile_program(Program.from_text(text), k=3, d=2)
    assert compiled.sizes.columns == 3 and compiled.sizes.heads == 1
    check_fixed_point(compiled)


def test_a_product_that_is_divided_among_heads_stays_divided():
    """H has one column: X X.T + c c.T + c c.T, of three columns, is three heads, two of them alike."""
    text = """
def program(X: "1 1"):
    B = hstack([X, constant([[2.25, 2.25]])])
    return B @ B.T
"""
    compiled = compile_program(Program.from_text(text))
    assert compiled.sizes.columns == 1 and compiled.sizes.heads == 3
    check_fixed_point(compiled)


def test_a_copy_of_a_value_is_not_taken_for_the_value_moved():
    """The last W0 is copied to the columns that X X.T no longer needs, as if it had been packed to the left."""
    text = """
def program(X: "n n", Y: "3 n", *, T=2):
    W0 = zeros(6, 3)
    W1 = W0
    for t in range(T):
        W0 = 0.2 * (W1 @ (W0.T @ W0) + 0.9 / (t + 1) * (W1 + Y.T))
        W1 = -1 / (t + 1) * ((X @ X.T) @ (0.9 / (t + 1) * W0))
    return W0
"""
    text = check_fixed_point(compile_program(Program.from_text(text), n=6, T=3))
    assert "W0_3, W1_2 = 1 * W0_2, " in text


def test_the_text_of_momentum():
    text = check_fixed_point(compile_program("momentum", {**SIZES, "T": 4}))
    assert text.splitlines()[2:] == [
        "    Xty, XtX = X.T @ y, X.T @ X",
        "    for t in range(4):",
        "        w, v = (",
        "            0.995 * w + 0.5 * v + 0.01 * Xty - 0.01 * (XtX @ w),",
        "            -0.005 * w + 0.5 * v + 0.01 * Xty - 0.01 * (XtX @ w),",
        "        )",
        "    return w",
    ]


@pytest.mark.parametrize(("free", "tied"), [("coefficients", False), ("coefficients", True), ("matrices", True)])
def test_trained_numbers_stand_in_the_text(free, tied):
    """After a training that kept the structure, whatever it did to the numbers."""
    start = free_program(compile_program("ridge", {**SIZES, "T": 3}), TASK, free, tied=tied)
    moved = jnp.asarray(np.random.default_rng(1).normal(size=start.moved.shape))
    trained = described_again(eqx.tree_at(lambda model: model.moved, start, moved).settled(), free)
    text = check_fixed_point(trained)
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("w = ")]
    assert len(lines) == (1 if tied else 3) and "0.995 * w" not in text
    number = float(lines[-1].split(" * Xty")[0].split()[-1])
    assert number == float(trained.network.unrolled()[-1].w3[0, 0, 4])
    assert distance(trained, compile_program(Program.from_text(text))) < 1e-9


def test_weights_of_no_program_are_refused_where_they_break():
    start = free_program(compile_program("ridge", {**SIZES, "T": 3}), TASK, "all", tied=True)
    moved = eqx.tree_at(lambda model: model.moved, start, jnp.ones_like(start.moved))
    with pytest.raises(ValueError, match=r"not those of a program: .*block 1"):
        decompile(described_again(moved.settled(), "all"))
    compiled = compile_program("ridge", {**SIZES, "T": 3})
    block = compiled.network.blocks[0]
    spoilt = eqx.tree_at(lambda each: each.network.blocks[0].b3, compiled, block.b3.at[1, 5, 0].set(0.5))
    with pytest.raises(ValueError, match=r"1 of the biases of the query in block 1 .* head 2, row 5, column 0"):
        decompile(spoilt)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("B = A @ A.T @ A @ A", "more than one head"),
        ("B = A.T @ A.T", "more than one head"),
        ("B = (A @ A + A) @ A", "can't be a factor in the same block"),
        ("for t in range(2):\n        A = t * A", "uses its index t"),
        ("s = 0.5\n    for t in range(2):\n        s = s * 0.5\n        A = s * A", "the number s changes"),
        ("for t in range(2):\n        B = A\n        A = 2 * B", "a second name for a value in a loop"),
        ("B = 1 * A\n    for t in range(2):\n        B = A[0:1, :]", "B is another value outside of the loop"),
        ("for t in range(2):\n        B = A.T\n    A = A + B", "B gets its first value in a loop and is used after it"),
        ("B = 1 * A\n    B[0, :] = A[1, :]", "can't be taken as it is written"),
    ],
)
def test_lines_that_are_more_than_a_block_get_a_sentence(line, sentence):
    program = Program.from_text(f'def f(A: "n n"):\n    {line}\n    return A\n')
    compile_program(program, n=3)
    with pytest.raises(ProgramError) as found:
        compile_as_written(program, n=3)
    assert sentence in str(found.value) and "line" in str(found.value)


def test_names_are_places():
    """A swap in one line, a second name, a line of numbers, a loop of nothing, a value that is returned unnamed."""
    text = """
def f(A: "n n", B: "n n", *, s=0.5):
    r = s * 2
    for t in range(3):
        A, B = B, r * A + A @ B.T @ A
    for t in range(0):
        A = A @ A
    C = A
    A = A + B
    return A, C, hstack([A, B])[:, 1:n+1].T
"""
    program = Program.from_text(text)
    compiled, traced = compile_as_written(program, n=3), program.trace(n=3)
    assert compiled.sizes.blocks == 5
    inputs = random_inputs(compiled)
    for expected, found in zip(traced.evaluate(inputs).results, compiled.evaluate(inputs).values(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ('def f(zeros: "n n"):\n    return zeros - zeros, zeros @ zeros.T\n', "zeros"),
        ('def f(X: "n n"):\n    ones = X @ X.T\n    return ones + constant([[1, 1], [1, 1]]), ones\n', "ones"),
        ('def f(eye: "n n"):\n    return eye[:1, :] @ eye\n', "eye"),
        ('def f(eye: "n n", zeros: "n n"):\n    return eye @ zeros.T\n', None),
    ],
)
def test_a_value_may_be_called_like_a_function_that_the_text_does_not_need(text, called):
    compiled = compile_program(Program.from_text(text), n=2)
    if called is None:
        assert decompile(compiled).startswith('def f(eye: "2 2", zeros: "2 2"):')
    else:
        with pytest.raises(ValueError, match=f"a value is called {called}, as a function is that the text needs"):
            decompile(compiled)


def test_names_that_somebody_changed_are_refused():
    compiled = compile_program("power", n=2, k=1)
    for name in ("../V", "", "def", "V) + f("):
        outputs = tuple(replace(each, name=name) for each in compiled.description.outputs)
        changed = CompiledProgram(compiled.network, replace(compiled.description, outputs=outputs))
        with pytest.raises(ValueError, match="can't be a name in a program's text"):
            decompile(changed)


def test_decompile_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, text = str(tmp_path / "compiled"), str(tmp_path / "text.py")
    settings = ("--set", "n=6", "d=3", "T=3", "--out", folder)
    assert run("compile", "ridge", *settings, capsys=capsys)[0] == 0
    status, out, err = run("decompile", folder, capsys=capsys)
    assert status == 0 and out.startswith('def ridge(X: "6 3"'), err
    assert run("decompile", folder, "-o", text, capsys=capsys)[0] == 0
    assert run("decompile", folder, "-o", text, capsys=capsys)[0] == 2  # it is there
    again = str(tmp_path / "again")
    status, out, err = run("compile", text, "--as-written", "--out", again, capsys=capsys)
    assert status == 0, err
    networks = [(tmp_path / each / "network.safetensors").read_bytes() for each in ("compiled", "again")]
    assert networks[0] == networks[1]


@pytest.mark.parametrize(
    "body",
    [
        "    X, O = O, X\n    return X, O",
        "    X, O, A = O, A, X\n    return X, O, A, X @ O",
        "    t = A @ O\n    for k in range(9):\n        X = 0.5 * X @ t\n    return X, t",
        "    P = O\n    for t in range(n):\n        O[t] = X[t] + P[t]\n        P = O if t < 1 else P\n    return O, P",
    ],
)
def test_names_that_change_places_at_the_end(body):
    """A name is taken only when its value is no longer needed under it; else the text computes something else."""
    text = f'def p(X: "n n", O: "n n", A: "n n"):\n{body}\n'
    compiled = compile_program(Program.from_text(text), n=3)
    random = np.random.default_rng(0)
    given = {name: random.standard_normal((3, 3)) for name in "XOA"}
    again = compile_as_written(Program.from_text(decompile(compiled)))
    for name, value in compiled.run(given).items():
        np.testing.assert_allclose(again.run(given)[name], value, rtol=0, atol=1e-14)
    assert decompile(again) == decompile(compiled)
