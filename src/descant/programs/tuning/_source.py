"""Where a training starts from: a program that is compiled for the task, or one that was."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._compile import choose, finish
from .._compiled import PROGRAM, CompiledProgram, load
from .._library import find
from ..decompile import description_of, recover
from ..language import Body, Constant, Instruction, Traced
from ._numbers import ALL
from ._predictor import ROLES


def starting_program(source: str | Path, settings: Mapping[str, Any], n: int, d: int) -> CompiledProgram:
    """A compiled program for prompts of n examples in d dimensions.

    **Arguments:** `source` is the folder of a compiled program, the name of one in the library, or a file's path;
    `settings` are sizes and scalars of a program that is compiled now, where n and d are those of the task. An input
    of a program that no prompt has, d × d and not optional, is taken to be the identity, a constant of the program:
    so `gd_beta` starts with the preconditioner I.
    """
    if (Path(source) / PROGRAM).is_file():
        if settings:
            raise ValueError(f"{source} is compiled already, with its settings; leave --set out, or name its program.")
        return load(source)
    program = find(source)
    known = {"n": n, "d": d}
    for name, value in known.items():
        if settings.get(name, value) != value:
            raise ValueError(f"--set has {name}={settings[name]}, and the task {name} = {value}; leave it out.")
    letters = program.signature.letters()
    sizes = {name: value for name, value in known.items() if name in letters}
    return finish(choose(with_identities(program.trace({**settings, **sizes}))))


def with_identities(traced: Traced) -> Traced:
    """The program with the identity for every square input that no prompt has and that is not optional."""
    names = {
        each.name
        for each in traced.inputs
        if each.name.lower() not in ROLES and not each.optional and each.shape[0] == each.shape[1]
    }

    def constant(each: Instruction) -> Instruction:
        if each.op != "input" or each.attribute not in names:
            return each
        return replace(each, op="constant", attribute=Constant(np.eye(each.shape[0])))

    body = Body(tuple(constant(each) for each in traced.body.instructions), traced.body.results)
    return replace(traced, inputs=tuple(each for each in traced.inputs if each.name not in names), body=body)


def described_again(compiled: CompiledProgram, free: str) -> CompiledProgram:
    """A program whose numbers were moved, described by those it has now; of `all` weights no head has words."""
    old = compiled.description
    # Scalars stand in the weights now; sizes and counts are what they were.
    settings = tuple((name, value) for name, value in old.settings if isinstance(value, int))
    if free == ALL:
        blocks = tuple(replace(each, heads=()) for each in old.blocks)
        new = replace(old, settings=settings, blocks=blocks)
    else:
        found = recover(compiled)
        new = description_of(replace(old, settings=settings), found.schedule, found.layout)
    return CompiledProgram(compiled.network, new)
