"""The way from text to weights without any choice of the compiler's."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._compile import Candidate, finish
from .._compiled import CompiledProgram
from .._library import find
from ..graph import Graph
from ..language import Program, ProgramError, TextFrontEnd, recording
from ..weights import lay_out
from ._read import LineReader


def compile_as_written(
    program: Program | str | Path, settings: Mapping[str, Any] | None = None, /, **more: Any
) -> CompiledProgram:
    """Compile a program line by line: what is written is what runs.

    Every assignment is one block, `a, b = ..., ...` one block for both; every name is a place of H, and a name that is
    assigned again is overwritten there. An expression is a sum of terms that one block can compute: multiples of
    places, with constants on their right, and products f @ g.T @ h of up to three of these, a head each. Loops are
    repeats. `descant decompile` writes such texts.

    **Arguments:** those of `compile_program`; `program` is a text, in the library, in a file or from `from_text`.

    >>> from descant.programs import Program
    >>> text = 'def gram(X: "n d"):\\n    G = X.T @ X\\n    return G'
    >>> compile_as_written(Program.from_text(text), n=3, d=2).sizes.blocks
    1
    """
    if not isinstance(program, Program):
        program = find(program)
    front = program.front_end
    if not isinstance(front, TextFrontEnd):
        raise ProgramError(f"{program.name} is no text", "a function is recorded; only texts are taken as written")
    traced = program.trace(settings, **more)
    try:
        reader = LineReader(traced)
        body = front.function.body
        with recording(reader.trace):
            schedule = reader.schedule(body[1:] if isinstance(body[0], ast.Expr) else body)
    except ProgramError as error:
        raise error.located(None, front.origin) from None
    return finish(Candidate(traced, Graph(), schedule, lay_out(schedule)))
