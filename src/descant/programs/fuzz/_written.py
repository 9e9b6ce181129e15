"""A program that the fuzzer wrote, and what it means: Python executes the text, NumPy computes."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._arithmetic import MULTIPLE, PLACE, Arithmetic, Value

NAME = "program"


@dataclass(frozen=True)
class Written:
    """A program's text, its settings, and arrays to run it on. `kind` says who wrote it, `number` from which seed."""

    text: str
    settings: Mapping[str, int | float]
    inputs: Mapping[str, np.ndarray]
    kind: str = ""
    number: int = 0


@dataclass(frozen=True)
class Meaning:
    """The outputs in the order of the return statement, and the largest magnitude met on the way to them."""

    outputs: list[Value]
    largest: float


class _Values(ast.NodeTransformer):
    """`O[t] = row` as `O = _placed(O, row, t)`: matrices are values, and Python's lists and arrays are not."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        (target,) = node.targets
        return _assigned(target, node.value) if isinstance(target, ast.Subscript) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Subscript):
            return node
        part = ast.Subscript(ast.Name(node.target.value.id, ast.Load()), node.target.slice, ast.Load())  # type: ignore
        return _assigned(node.target, ast.BinOp(part, node.op, node.value))


def _assigned(target: ast.Subscript, value: ast.expr) -> ast.Assign:
    assert isinstance(target.value, ast.Name)
    name = target.value.id
    # A slice is written as one outside of brackets: through an object whose item it is.
    key = ast.Subscript(ast.Name("_key", ast.Load()), target.slice, ast.Load())
    call = ast.Call(ast.Name(PLACE, ast.Load()), [ast.Name(name, ast.Load()), value, key], [])
    return ast.Assign([ast.Name(name, ast.Store())], call)


class _Key:
    def __getitem__(self, key: object) -> object:
        return key


def meaning(written: Written, scale: float = 1.0, multiple: float = MULTIPLE) -> Meaning:
    """Execute the text, shaken by a multiple of what float64 rounds.

    Only for texts that this room wrote: a user's file is parsed, and never executed.
    """
    arithmetic = Arithmetic(written.number, multiple)
    names = {**arithmetic.names(), "_key": _Key()}
    tree = ast.fix_missing_locations(_Values().visit(ast.parse(written.text)))
    exec(compile(tree, "<fuzz>", "exec"), names)
    function = names[NAME]
    scalars = function.__kwdefaults__ or {}
    names |= {name: value for name, value in written.settings.items() if name not in scalars}
    chosen = {name: value for name, value in written.settings.items() if name in scalars}
    inputs = {name: arithmetic.matrix(scale * array) for name, array in written.inputs.items()}
    with np.errstate(all="ignore"):
        found = function(**inputs, **chosen)
    return Meaning(list(found) if isinstance(found, tuple) else [found], arithmetic.largest)
