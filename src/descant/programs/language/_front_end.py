"""What a front end is, and what it takes from a function's text: the names that people gave to values."""

import ast
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from ._errors import Position
from ._matrix import Matrix
from ._trace import Trace
from ._whitelist import position_of


@runtime_checkable
class FrontEnd(Protocol):
    """Where a program's function comes from: text, or Python."""

    @property
    def origin(self) -> str:
        """What messages call the program."""
        ...

    def start(self, settings: Mapping[str, Any]) -> "tuple[Trace, Any]":
        """A fresh trace, and what `finish` needs."""
        ...

    def finish(self, state: Any, matrices: Mapping[str, Matrix], settings: Mapping[str, Any]) -> list[Any]:
        """Run the function on these matrices; its returned values."""
        ...

    def names(self) -> tuple[dict[Position, str], list[str | None]]:
        """Names that the text gives to the values at some positions, and to the returned ones."""
        ...


def returned_names(value: Any) -> list[str | None]:
    """The names of what a return statement returns; None for what has no name of its own."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return [part.id if isinstance(part, ast.Name) else None for part in parts]


def assigned_names(function: Any, lines: int = 0, columns: int = 0) -> dict[Position, str]:
    """Which stretches of a function's text are given a name, shifted by lines and columns."""
    found: dict[Position, str] = {}

    def note(node: Any, name: str) -> None:
        span = position_of(node)
        if span is not None:
            found[
                Position(span.line + lines, span.column + columns, span.end_line + lines, span.end_column + columns)
            ] = name

    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value):
                note(value, name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name):
                        note(value, target.id)
            case ast.AugAssign(target=ast.Name(id=name)):
                note(node, name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                note(node, name)
    return found
