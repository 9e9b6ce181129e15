"""Random programs: every level of the compiler against NumPy; spoilt ones against a sentence.

The seed is fixed, so that a run can be repeated; DESCANT_TEST_SEED=... draws other programs.
"""

import os
import subprocess
import sys
from random import Random

import pytest

from descant.programs import Program
from descant.programs._compile import choose, finish
from tests.support import ROOT
from tests.support.fuzz_worker import TOLERANCE, compare, worst
from tests.support.program_texts import write_program

SEED = int(os.environ.get("DESCANT_TEST_SEED") or 20261115)


def fuzz(kind: str, seed: int, examples: int) -> None:
    command = [sys.executable, "-m", "tests.support.fuzz_worker", kind, str(seed), str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ})
    assert done.returncode == 0, f"DESCANT_TEST_SEED={SEED}\n{' '.join(command)}\n{done.stdout}{done.stderr}"
    print(done.stdout)


def test_random_programs():
    fuzz("valid", SEED, 210)  # a few grow beyond float64, or are nothing but rounding, and are not compared


def test_spoilt_programs_get_a_sentence():
    fuzz("invalid", SEED, 400)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_random_programs(part):
    """2,000 more, in four parts."""
    fuzz("valid", SEED + 1 + part, 520)


@pytest.mark.slow
def test_many_spoilt_programs():
    fuzz("invalid", SEED + 1, 3000)


def test_types_hold_while_compiling():
    """A few in this interpreter, where every call's types are checked."""
    for number in range(SEED, SEED + 8):
        compare(write_program(Random(number)), everything=False)


def test_some_run_under_jax():
    """The network itself, scans and all."""
    found = 0
    for number in range(SEED, SEED + 40):
        written = write_program(Random(number))
        traced = Program.from_text(written.text).trace(written.settings)
        best = choose(traced)
        direct = traced.evaluate(written.inputs)
        if len(best.schedule.places) > 12 or not direct.largest < 1e20:
            continue
        results = list(finish(best).run(written.inputs).values())
        assert worst(direct.results, results) <= TOLERANCE * max(direct.largest, 1e-300), f"{number}\n{written.text}"
        found += 1
        if found == 5:
            return
