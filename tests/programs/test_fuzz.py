"""Random programs: networks against what the texts mean; mistakes are planted and found; spoilt ones get a sentence.

The seed is fixed, so that a run can be repeated; DESCANT_TEST_SEED=... draws other programs, and `descant fuzz` as many
as anybody likes.
"""

import ast
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import pytest

from descant.attention import Repeated
from descant.programs import Program, _network, compile_program
from descant.programs.fuzz import (
    Comparison,
    Verdict,
    Written,
    _campaign,
    compared,
    contracting,
    general,
    judge,
    meaning,
    numbers,
    shrunk,
    write,
)
from descant.programs.fuzz._arithmetic import Arithmetic
from descant.programs.fuzz._limit import TooSlow, limited
from descant.programs.schedule import Head
from descant.programs.weights import _link
from tests.support import ROOT
from tests.support.commands import run
from tests.support.fuzz_worker import compare

SEED = int(os.environ.get("DESCANT_TEST_SEED") or 20261116)


def worker(kind: str, seed: int, examples: int) -> None:
    command = [sys.executable, "-m", "tests.support.fuzz_worker", kind, str(seed), str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ})
    assert done.returncode == 0, f"DESCANT_TEST_SEED={SEED}\n{' '.join(command)}\n{done.stdout}{done.stderr}"


def many(seed: int, programs: int, steps: int) -> dict:
    """`descant fuzz`, in an interpreter of its own: type checks would take most of the time."""
    command = [sys.executable, "-m", "descant", "fuzz", "--json", "--seed", str(seed), "--programs", str(programs)]
    command += ["--max-steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ})
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def short_programs() -> Iterator[Written]:
    """Programs that compile in no time."""
    return (each for number in count(SEED) if len((each := write(number, 5)).text) < 400)


def test_random_programs():
    found = many(SEED, 40, 100)
    assert found["outcomes"] == {"equal": 40, "refused": 0, "wrong": 0, "traceback": 0, "slow": 0}
    comparisons = found["comparisons"]
    assert comparisons["sharp"] > 50 and comparisons["absolute"] > 0 and found["vacuous"] < 0.05


def test_every_level_of_the_compiler():
    worker("valid", SEED, 20)


def test_spoilt_programs_get_a_sentence():
    worker("invalid", SEED, 200)


@pytest.mark.slow
def test_many_random_programs():
    many(SEED + 1, 150, 500)


@pytest.mark.slow
def test_many_spoilt_programs():
    worker("invalid", SEED + 1, 1000)


def test_types_hold_while_compiling():
    """A few in this interpreter, where every call's types are checked."""
    for written in islice(short_programs(), 6):
        compare(written, everything=False)


def test_some_run_under_jax():
    """The network itself, scans and all."""
    found = [judge(written, under_jax=True) for written in islice(short_programs(), 4)]
    assert [each.outcome for each in found] == ["equal"] * 4


# What is planted must be found. Each changes the weights of a head, or a loop, a little.
TIMES, OF_CONSTANT, HEAD, REPEATED = _link.Reading.times, _link.Reading.of_constant, _link._Linker._head, Repeated


def off_by_a_millionth(reading, factor):
    return TIMES(reading, factor * (1 + 1e-6) if isinstance(factor, float) else factor)


def with_factors_swapped(linker, head):
    fits = head.key.shape == head.query.shape
    return HEAD(linker, Head(head.key, head.query, head.values) if fits else head)


PLANTED = {
    "a coefficient": (_link.Reading, "times", off_by_a_millionth),
    "a transpose": (_link._Linker, "_head", with_factors_swapped),
    "a constant": (_link.Reading, "of_constant", lambda array: OF_CONSTANT(array + 1e-7)),
    "an iteration": (_network, "Repeated", lambda body, count: REPEATED(body, count + 1)),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_mistake_is_found(planted, monkeypatch):
    monkeypatch.setattr(*PLANTED[planted])
    assert "wrong" in (judge(written).outcome for written in islice(short_programs(), 40))


def test_programs_are_of_every_kind():
    """What the generator should write, it writes; the same for the same seed."""
    texts = [general(number).text for number in range(400)] + [contracting(number, 50).text for number in range(100)]
    for part in ("for j in", ".T", "hstack(", "vstack(", "constant(", "eye(", "zeros(", "ones(", "range(0)", "range(1)",
                 "[t:t + 1, :]", "cos(t)", " += ", " @= ", "unread", " = 0,", "range(1, T + 1)", "range(3, 0, -1)",
                 "X @ X.T", "hadamard(", ") ** 2", "diag(", "trace(", "sum(", "mean(", "reciprocal(", "rsqrt(", "[t] =",
                 "[t] +=", "if t % 2 == 0:", "else:", "def step(", "step("):  # fmt: skip
        assert any(part in text for text in texts), part
    assert any("return X" in text for text in texts)
    assert general(5) != general(6) and general(5).text == general(5).text
    long = [contracting(number, 1000) for number in range(60)]
    assert sum(each.settings["T"] >= 500 for each in long) > 20


def test_every_text_is_python():
    """Whichever expressions stand inside one another: a power that is turned must be in brackets."""
    for number in islice(numbers(2026111803), 3000):
        ast.parse(write(number, 10).text)


def test_contracting_programs_contract():
    """Rounding does not grow in them: after many iterations every digit but the last ones is known."""
    for number in range(12):
        written = contracting(number, 100)
        found = meaning(written, multiple=1.0)
        assert found.largest < 1e4
        assert all(each.spread <= 1e-11 * max(1.0, found.largest) for each in found.outputs), written.text


def test_shaken_runs_go_as_far_as_rounding():
    """The spread of a result is of the size of float64's own error, for cancellation and for loops alike."""
    text = """
def program(X: "n d", w: "d 1", *, T=50):
    v = w
    for t in range(T):
        v = v - 0.1 * X.T @ (X @ v)
    return v, X @ w - X @ (w + v) + X @ v
"""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((8, 3)) / 3, random.standard_normal((3, 1))
    found = meaning(Written(text, {"n": 8, "d": 3, "T": 50}, {"X": x, "w": w}), multiple=1.0)
    v = w
    for _ in range(50):
        v = v - 0.1 * x.T @ (x @ v)
    off = float(np.abs(v - found.outputs[0].exact).max())
    assert 0 < off < 10 * found.outputs[0].spread < 1e-13
    assert float(np.abs(found.outputs[1].exact).max()) < 1e-18 < 1e-17 < found.outputs[1].spread < 1e-14
    assert Arithmetic().matrix(np.eye(2)).spread == 0


def test_what_even_long_double_forgets_is_not_compared():
    """X is minus V, but V is lost beside Y: the first run gets zero, and the others what they were moved by."""
    text = """
def program(X: "1 1", *, T=2):
    for t in range(T):
        V = X
        Y = X @ X
        Y = Y @ Y
        Y = Y @ Y
        Y = Y @ Y
        X = Y - (V + Y)
    return X
"""
    verdict = judge(Written(text, {"T": 2}, {"X": np.array([[1000.0]])}))
    assert (verdict.outcome, [each.worth for each in verdict.comparisons]) == ("equal", ["vacuous", "vacuous"])


def test_powers_of_rounding_are_rounding():
    """A network that multiplies out rounds ten times as much as the text: after X^4, ten thousand times. No more."""
    text = """
def program(X: "1 1"):
    X = 3 * X - (X + X + X)
    return X, X @ X @ (X @ X)
"""
    expected = meaning(Written(text, {}, {"X": np.ones((1, 1))}))
    residues = {ulps: ulps * 3 * 2.0**-53 * np.ones((1, 1)) for ulps in (0, 1, 12, 300)}
    found = {ulps: list(compared(expected, {"r": r, "r4": r**4})) for ulps, r in residues.items()}
    assert {each.worth for both in found.values() for each in both} == {"absolute"}
    assert {ulps: [each.wrong for each in both] for ulps, both in found.items()} == {
        0: [False, False], 1: [False, False], 12: [False, False], 300: [True, True]
    }  # fmt: skip


def test_what_a_comparison_is_worth():
    sharp = Comparison("w", 1e-15, 1e-14, size=1.0, largest=3.0)
    nothing = Comparison("w", 1e-15, 1e-14, size=1e-16, largest=3.0)
    assert (sharp.worth, nothing.worth) == ("sharp", "absolute") and not sharp.wrong and not nothing.wrong
    assert Comparison("w", 1e-3, 1e-14, size=1e-16, largest=3.0).wrong
    assert Comparison("w", float("nan"), 1e-14, size=1.0, largest=3.0).wrong
    lost = Comparison("w", 1.0, 1e-2, size=1.0, largest=3.0)
    assert lost.worth == "vacuous" and not lost.wrong
    assert Comparison("w", 0.0, float("nan"), size=1.0, largest=float("inf")).worth == "vacuous"


def test_a_failing_program_is_made_small():
    text = """
def program(X: "n d", Y: "n d", A: "d d", *, a=0.5, T=4):
    B = A @ A.T
    for t in range(T):
        X = X @ B + a * Y
        Y = Y @ A
    return X + Y, A
"""
    arrays = {"X": np.ones((3, 2)), "Y": np.ones((3, 2)), "A": np.eye(2)}
    written = Written(text, {"n": 3, "d": 2, "a": 0.5, "T": 4}, arrays)

    def outcome(candidate: Written) -> str:
        compile_program(Program.from_text(candidate.text), candidate.settings).evaluate(candidate.inputs)
        return "wrong" if "Y @ A" in candidate.text and "for t" in candidate.text else "equal"

    small = shrunk(written, outcome)
    assert len(small.text) < 100 and "Y @ A" in small.text and "X" not in small.inputs
    assert small.settings["T"] <= 1


def test_time_is_limited():
    began = time.process_time()
    with pytest.raises(TooSlow), limited(0.05):
        while time.process_time() < began + 5:
            pass
    with limited(0.05):
        pass
    time.sleep(0.1)


def test_a_limit_that_was_lost_in_garbage_collection_is_raised_at_the_end(monkeypatch):
    def slow(phase, info):
        began = time.process_time()
        while time.process_time() < began + 0.1:
            pass

    said: list = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    gc.callbacks.append(slow)
    try:
        with pytest.raises(TooSlow), limited(0.05):
            gc.collect()
    finally:
        gc.callbacks.remove(slow)
    assert not said


def test_the_time_that_is_told_is_the_time_that_is_limited():
    written = next(short_programs())
    slow = judge(written, seconds=1e-4)
    assert (slow.outcome, slow.sentence) == ("slow", "compiling took more than 0.0001 seconds")
    assert slow.seconds >= 1e-4
    assert 0 < judge(written).seconds < 10


def test_the_command_keeps_what_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_link.Reading, "times", off_by_a_millionth)
    out = tmp_path / "failed"
    monkeypatch.setattr(_campaign, "shrunk", lambda written, outcome, seconds: shrunk(written, outcome, 1.0))
    status, text, _ = run("fuzz", "--programs", "4", "--max-steps", "3", "--out", str(out), capsys=capsys)
    assert status == 1 and "wrong, number" in text and f"Written to {out}" in text
    small = sorted(path for path in out.glob("wrong-*.py") if "whole" not in path.name)[0]
    assert "# wrong: " in small.read_text() and "--set" in small.read_text()
    monkeypatch.undo()
    settings = small.read_text().split("--set ")[1].split(" --out")[0].split()
    status, _, err = run("compile", str(small), "--set", *settings, "--out", str(tmp_path / "c"), capsys=capsys)
    assert status == 0, err
    arrays = str(small.with_suffix(".npz"))
    status, _, err = run(
        "run", str(tmp_path / "c"), "--inputs", arrays, "--out", str(tmp_path / "r.npz"), capsys=capsys
    )
    assert status == 0, err


def test_an_interrupted_command_says_what_was_done(monkeypatch, capsys):
    calls = []

    def interrupted(written, **_):
        calls.append(written)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return Verdict("equal", networks=1)

    monkeypatch.setattr("descant.programs.fuzz._campaign.judge", interrupted)
    status, out, err = run("fuzz", "--programs", "100000", capsys=capsys)
    assert status == 130 and "2 programs, 2 networks: 2 equal." in out and "interrupted" in err
