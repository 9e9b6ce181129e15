"""Names of a program's text and what they hold; helper functions with their own."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import ProgramError
from ._whitelist import assigned_in


@dataclass
class Scope:
    """The names of one function that is being run; others are looked up in the functions around it, as in Python."""

    values: dict[str, Any]
    own: frozenset[str] = frozenset()
    outer: "Scope | None" = None

    def find(self, name: str) -> Any:
        """What a name holds."""
        if name in self.values:
            return self.values[name]
        if self.outer is None or name in self.own:
            exp = "; Euler's number is exp(1)" if name == "e" else ""
            raise ProgramError(f"{name} is not defined here", f"known names: {', '.join(self.known())}{exp}")
        return self.outer.find(name)

    def knows(self, name: str) -> bool:
        """Whether a name holds something."""
        return name in self.values or (self.outer is not None and name not in self.own and self.outer.knows(name))

    def known(self) -> list[str]:
        """All names that hold something."""
        outer = [] if self.outer is None else [name for name in self.outer.known() if name not in self.own]
        return list(dict.fromkeys([*self.values, *outer]))


@dataclass
class Function:
    """A helper: its text, its defaults, and the scope it was written in."""

    node: ast.FunctionDef
    defaults: Mapping[str, Any]
    scope: Scope
    running: bool = False

    def __post_init__(self) -> None:
        self.own = frozenset(assigned_in(self.node))

    def bind(self, values: list[Any], keywords: Mapping[str, Any]) -> Scope:
        """The names of a call."""
        arguments, name = self.node.args, self.node.name
        ordered = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        known = [*ordered, *(each.arg for each in arguments.kwonlyargs)]
        given = dict(zip(ordered, values, strict=False))
        twice = [each for each in keywords if each in given or each in [a.arg for a in arguments.posonlyargs]]
        missing = [each for each in known if each not in given and each not in keywords and each not in self.defaults]
        unknown = [each for each in keywords if each not in known]
        if len(values) > len(ordered) or twice or unknown or missing:
            raise ProgramError(f"{name} is called with other arguments than it has", f"it has: {', '.join(known)}")
        return Scope({**self.defaults, **given, **keywords}, self.own, self.scope)
