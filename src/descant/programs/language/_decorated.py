"""Programs as Python functions: the function runs on symbolic matrices, and what it does is recorded."""

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

from ._errors import Position, ProgramError
from ._front_end import assigned_names, returned_names
from ._functions import MATRIX_FUNCTIONS
from ._loops import loop
from ._matrix import Matrix
from ._scalars import NUMBERS
from ._signature import Parameter, Signature
from ._trace import Trace

# What a program may name without importing it; names of the function's own module come first.
PROVIDED = {
    **MATRIX_FUNCTIONS,
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan")},
    **NUMBERS,
}


@dataclass
class FunctionFrontEnd:
    """A Python function; sizes and the `range` that records loops are put among its global names."""

    function: Any  # a FunctionType; as a field a type checker would bind it like a method
    origin: str
    # What the last run returned was called in its frame; asked for only where Python can't find the source.
    last_names: list[str | None] = field(default_factory=list, compare=False)

    def start(self, settings: Mapping[str, Any]) -> tuple[Trace, None]:
        """A trace that asks the running frame where it is."""
        del settings
        code = self.function.__code__
        return Trace(lambda: _position(code)), None

    def finish(self, state: None, matrices: Mapping[str, Matrix], settings: Mapping[str, Any]) -> list[Any]:
        """Call the function."""
        function: FunctionType = self.function
        keywords = function.__kwdefaults__ or {}
        numbers = {name: value for name, value in settings.items() if name not in keywords}
        names = {**PROVIDED, **function.__globals__, **numbers}
        first = next(iter(matrices.values()), None)
        if first is not None:
            names["range"] = lambda *bounds: _loop(first.trace, bounds, sys._getframe(1))
        copy = FunctionType(function.__code__, names, function.__name__, None, function.__closure__)
        copy.__kwdefaults__ = {name: settings[name] for name in keywords}
        try:
            # Only where needed: being told of every call and return takes time.
            known = _source(function) is not None
            with nullcontext([]) if known else _watching_return(function.__code__) as self.last_names:
                value = copy(*matrices.values())
        except ProgramError as error:
            raise error.located(_raised_at(error, function.__code__), self.origin) from None
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def names(self) -> tuple[dict[Position, str], list[str | None]]:
        """From the source, where Python can find it."""
        found = _source(self.function)
        if found is None:
            return {}, list(self.last_names)
        tree, lines, columns = found
        returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
        return assigned_names(tree, lines, columns), returned_names(returns[-1].value) if returns else []


def read_function(function: Any) -> tuple[Signature, FunctionFrontEnd, str]:
    """The signature, the front end and the docstring of a function."""
    if not isinstance(function, FunctionType):
        raise ProgramError(f"{function!r} is no function", "expected a function, or Program.from_text(text)")
    origin = function.__name__
    parameters, scalars = [], {}
    for each in inspect.signature(function).parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise ProgramError("parameters with * or **", "name every parameter", origin=origin)
        if each.kind == each.KEYWORD_ONLY:
            if isinstance(each.default, bool) or not isinstance(each.default, (int, float)):
                raise ProgramError(
                    f"the scalar {each.name} has no number as its default", f"write {each.name}=0.1", origin=origin
                )
            scalars[each.name] = each.default
            continue
        if each.default is not each.empty and each.default != 0:
            raise ProgramError(
                f"the matrix {each.name} has a default other than 0",
                "`= 0` marks state that starts at zero; scalars stand after a *",
                origin=origin,
            )
        annotation = None if each.annotation is each.empty else each.annotation
        parameters.append(Parameter.read(each.name, annotation, each.default is not each.empty))
    try:
        signature = Signature(function.__name__, tuple(parameters), scalars)
        for name in function.__code__.co_varnames + function.__code__.co_cellvars:
            signature.check_rebound(name)
    except ProgramError as error:
        raise error.located(None, origin) from None
    return signature, FunctionFrontEnd(function, origin), inspect.getdoc(function) or ""


def _loop(trace: Trace, bounds: tuple, frame: FrameType) -> Iterator[int]:
    return loop(trace, bounds, lambda: frame.f_locals)


@contextmanager
def _watching_return(code: CodeType) -> Iterator[list[str | None]]:
    """The names that returned matrices have among the local variables of a function, filled in when it returns."""
    found: list[str | None] = []

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if event == "return" and frame.f_code is code:
            parts = list(value) if isinstance(value, (tuple, list)) else [value]
            local = frame.f_locals
            found[:] = [next((name for name in local if local[name] is part), None) for part in parts]

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _position(code: CodeType) -> Position | None:
    """Where the program's own frame is at this moment."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return None if frame is None else _span(code, frame.f_lasti)


def _raised_at(error: BaseException, code: CodeType) -> Position | None:
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code is code:
            return _span(code, at.tb_lasti)
        at = at.tb_next
    return None


def _span(code: CodeType, instruction: int) -> Position | None:
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Position(line, column + 1, end_line, end_column + 1)


def _source(function: FunctionType) -> tuple[ast.AST, int, int] | None:
    """The syntax tree of a function, and what to add to its lines and columns for those of its file."""
    try:
        text = inspect.getsource(function)
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, TypeError, SyntaxError):
        return None
    # Text that was executed may bear the name of a file with other lines.
    first = tree.body[0] if tree.body else None
    if not isinstance(first, ast.FunctionDef) or first.name != function.__name__:
        return None
    indent = len(text) - len(text.lstrip())
    return tree, function.__code__.co_firstlineno - 1, indent
