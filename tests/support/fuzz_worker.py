"""Random programs through every level of the compiler, in an interpreter of its own: type checks would take most time.

python -m tests.support.fuzz_worker valid|invalid SEED PROGRAMS
"""

import sys
import warnings
from collections import Counter
from random import Random

import numpy as np

from descant.programs import Program, ProgramError
from descant.programs._compile import candidates, choose
from descant.programs.fuzz import Written, compared, general, meaning, numbers
from descant.programs.graph import evaluate_graph
from descant.programs.schedule import evaluate_schedule
from descant.programs.weights import check, evaluate_weights, link
from tests.support.program_texts import spoilt

tally: Counter[str] = Counter()


def compare(written: Written, everything: bool) -> None:
    """Compile a program and compare all levels of the compiler with what its text means."""
    traced = Program.from_text(written.text).trace(written.settings)
    expected = meaning(written)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        levels = {"language": traced.evaluate(written.inputs).results}
        found = [choose(traced)]
        if everything:
            found += [*candidates(traced), *candidates(traced, hoist=False)]
        for way, each in enumerate(found):
            weights = link(each.schedule, each.layout)
            assert check(each.schedule, each.layout, weights) > 0
            levels[f"graph {way}"] = evaluate_graph(each.graph, written.inputs)
            levels[f"schedule {way}"] = evaluate_schedule(each.schedule, written.inputs)
            levels[f"weights {way}"] = evaluate_weights(each.schedule, each.layout, weights, written.inputs)
    for level, results in levels.items():
        assert len(results) == len(expected.outputs)
        for comparison in compared(expected, {str(index): value for index, value in enumerate(results)}):
            assert not comparison.wrong, f"{level}: {comparison}"
            tally[comparison.worth] += 1
    tally["compiled"] += 1
    tally["ways"] += len(found)


def valid(number: int) -> None:
    """One random program; one in ten is built in every way that the compiler knows."""
    written = general(number)
    try:
        compare(written, everything=number % 10 == 0)
    except BaseException as error:
        error.add_note(f"{written.text}{written.settings}")
        raise


def invalid(number: int) -> None:
    """One spoilt program: it compiles all the same, or is rejected with one sentence."""
    written = general(number)
    text = spoilt(written.text, Random(number))
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


def main(kind: str, seed: int, programs: int) -> None:
    """Draw programs from a seed."""
    test = {"valid": valid, "invalid": invalid}[kind]
    for _, number in zip(range(programs), numbers(seed), strict=False):
        test(number)
    print(dict(tally))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
