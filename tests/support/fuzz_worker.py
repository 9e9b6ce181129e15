"""Random programs through the compiler, in an interpreter of its own: type checks would take most of the time.

python -m tests.support.fuzz_worker valid|invalid SEED EXAMPLES
"""

import sys
import warnings
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from descant.programs import Program, ProgramError
from descant.programs._compile import candidates, choose
from descant.programs.graph import evaluate_graph
from descant.programs.schedule import evaluate_schedule
from descant.programs.weights import check, evaluate_weights, link
from tests.support.program_texts import Shaken, Written, by_numpy, spoilt, write_program

TOLERANCE = 1e-10
# Beyond this, cubic growth over a few loops leaves float64; such programs are not compared.
LARGEST = 1e60
# Nor are programs whose results are made of rounding, such as powers of X - X.T for a symmetric X: where NumPy with its
# products rounded in another way gives another result, there is nothing to compare with.
CONDITIONED = 1e-12

tally = {"compiled": 0, "rejected": 0, "too large": 0, "rounding": 0, "ways": 0, "worst": 0.0}


def compare(written: Written, everything: bool) -> None:
    """Compile a program and compare all levels of the compiler with NumPy's own evaluation."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        expected, *shaken = by_numpy(written), by_numpy(written, Shaken), by_numpy(written, Shaken)
        traced = Program.from_text(written.text).trace(written.settings)
        direct = traced.evaluate(written.inputs)
    if not direct.largest < LARGEST:
        tally["too large"] += 1
        return
    scale = max(direct.largest, 1e-300)
    if not all(worst(expected, each) <= CONDITIONED * scale for each in shaken):
        tally["rounding"] += 1
        return
    assert worst(expected, direct.results) <= TOLERANCE * scale, "direct evaluation"
    found = [choose(traced)]
    if everything:
        found += [*candidates(traced), *candidates(traced, hoist=False)]
    for each in found:
        weights = link(each.schedule, each.layout)
        assert check(each.schedule, each.layout, weights) > 0
        levels = {
            "graph": evaluate_graph(each.graph, written.inputs),
            "schedule": evaluate_schedule(each.schedule, written.inputs),
            "weights": evaluate_weights(each.schedule, each.layout, weights, written.inputs),
        }
        for level, results in levels.items():
            error = worst(expected, results) / scale
            assert error <= TOLERANCE, f"{level}: {error}"
            tally["worst"] = max(tally["worst"], error)
    tally["compiled"] += 1
    tally["ways"] += len(found)


def worst(expected: list[np.ndarray], found: list[np.ndarray]) -> float:
    """The largest difference."""
    assert [each.shape for each in expected] == [each.shape for each in found]
    return max(float(np.abs(a - b).max()) for a, b in zip(expected, found, strict=True))


def valid(number: int) -> None:
    """One random program; one in ten is built in every way that the compiler knows."""
    written = write_program(Random(number))
    try:
        compare(written, everything=number % 10 == 0)
    except BaseException as error:
        error.add_note(f"{written.text}{written.settings}")
        raise


def invalid(number: int) -> None:
    """One spoilt program: it compiles all the same, or is rejected with one sentence."""
    draw = Random(number)
    written = write_program(draw)
    text = spoilt(written.text, draw)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # Python's own remarks on odd text
            choose(Program.from_text(text).trace(written.settings))
        tally["compiled"] += 1
    except ProgramError as error:
        sentence = str(error)
        assert sentence.endswith(".") and "\n" not in sentence, sentence
        tally["rejected"] += 1
    except BaseException as error:
        error.add_note(f"{text}{written.settings}")
        raise


def main(kind: str, number: int, examples: int) -> None:
    """Draw programs from a seed."""
    test = {"valid": valid, "invalid": invalid}[kind]
    drawn = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), max_examples=examples)
    seed(number)(drawn(given(st.integers(0, 2**62))(test)))()
    print(tally)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
