"""Programs there and back, in an interpreter of its own: type checks would take most of the time.

python -m tests.support.decompile_worker SEED EXAMPLES
"""

import json
import sys

import jax
import numpy as np

from descant.programs import (
    CompiledProgram,
    Program,
    ProgramError,
    compile_as_written,
    compile_program,
    decompile,
    library,
)
from descant.programs.fuzz import Written, write


def same_weights(first: CompiledProgram, second: CompiledProgram) -> bool:
    """Bit for bit, repeats and all."""
    ones, others = (jax.tree.flatten(each.network) for each in (first, second))
    return ones[1] == others[1] and all(np.array_equal(a, b) for a, b in zip(ones[0], others[0], strict=True))


def random_inputs(compiled: CompiledProgram) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {each.name: 0.3 * random.normal(size=(each.rows, each.width)) for each in compiled.description.inputs}


def distance(first: CompiledProgram, second: CompiledProgram) -> float:
    """How far two programs are apart on random inputs, relative to the largest value on the way."""
    inputs = random_inputs(first)
    ones, others = (each.evaluate(inputs) for each in (first, second))
    assert list(ones) == list(others)
    largest = max(first.magnitudes(inputs))
    return max(float(np.abs(ones[name] - others[name]).max()) for name in ones) / largest


def check_fixed_point(compiled: CompiledProgram) -> str:
    """Decompiled, compiled as written: the same weights; decompiled once more: the same text."""
    text = decompile(compiled)
    again = compile_as_written(Program.from_text(text))
    assert same_weights(compiled, again), text
    assert decompile(again) == text
    return text


def check_library() -> int:
    """Every program there and back, and its text through all of the compiler."""
    programs = library()
    for name, program in programs.items():
        sizes = {letter: {"n": 4, "d": 2}.get(letter, 2) for letter in program.signature.letters()}
        compiled = compile_program(name, sizes | ({"T": 3} if "T" in program.signature.scalars else {}))
        text = check_fixed_point(compiled)
        assert distance(compiled, compile_program(Program.from_text(text))) < 1e-9, text
    return len(programs)


def check_random(written: Written) -> bool:
    """A random program there and back."""
    check_fixed_point(compile_program(Program.from_text(written.text), written.settings))
    return True


def check_as_written(written: Written) -> bool:
    """A random program line by line: a sentence, or the same results as NumPy's."""
    program = Program.from_text(written.text)
    try:
        compiled = compile_as_written(program, written.settings)
    except ProgramError as error:
        assert str(error).endswith("."), error
        return False
    with np.errstate(all="ignore"):
        expected = program.trace(written.settings).evaluate(written.inputs)
        if not expected.largest < 1e30:
            return False
        found = compiled.evaluate(written.inputs).values()
    worst = max(float(np.abs(a - b).max()) for a, b in zip(expected.results, found, strict=True))
    assert worst <= 1e-9 * max(expected.largest, 1e-300), worst
    return True


def main(seed: int, examples: int) -> None:
    """Check all, and print how many of each were."""
    found = {"library": check_library(), "random": 0, "as written": 0}
    for number in range(seed, seed + examples):
        written = write(number, 20)
        try:
            found["random"] += check_random(written)
            found["as written"] += check_as_written(written)
        except BaseException as error:
            error.add_note(f"{number}\n{written.text}{written.settings}")
            raise
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
