"""Programs as files: parsed with `ast`, checked against a white list, never executed."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import Position, ProgramError
from ._execute import Executor
from ._expressions import At
from ._front_end import assigned_names, returned_names
from ._matrix import Matrix
from ._scalars import OPERATORS, calculate
from ._signature import Parameter, Signature
from ._trace import Trace
from ._whitelist import assigned_in, check_function, check_helper, position_of

HEADER = 'def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1):'


@dataclass(frozen=True)
class TextFrontEnd:
    """A checked syntax tree, with the helpers that stand around it."""

    function: ast.FunctionDef
    origin: str
    helpers: tuple[ast.FunctionDef, ...] = ()

    def start(self, settings: Mapping[str, Any]) -> tuple[Trace, Executor]:
        """An executor, with the numbers that the text may name."""
        executor = Executor(settings)
        return executor.trace, executor

    def finish(self, state: Executor, matrices: Mapping[str, Matrix], settings: Mapping[str, Any]) -> list[Any]:
        """Walk through the statements."""
        del settings
        return state.run(self.function, matrices, list(self.helpers))

    def names(self) -> tuple[dict[Position, str], list[str | None]]:
        """As the text has them."""
        final = self.function.body[-1]
        assert isinstance(final, ast.Return)
        return assigned_names(self.function), returned_names(final.value)


def read_text(text: str, origin: str) -> tuple[Signature, TextFrontEnd, str]:
    """Parse and check a file's text: its signature, its front end, its docstring."""
    try:
        module = _parsed(text)
        function, helpers = _the_function(module)
        called = [helper.name for helper in helpers]
        for helper in helpers:
            check_helper(helper, called)
        check_function(function, called)
        signature = _signature(function)
        for name, node in assigned_in(function).items():
            signature.check_rebound(name, position_of(node))
    except ProgramError as error:
        raise error.located(None, origin) from None
    except RecursionError:
        raise ProgramError("the program is nested too deeply", "give parts of it names", origin=origin) from None
    doc = ast.get_docstring(function) or ast.get_docstring(module) or ""
    return signature, TextFrontEnd(function, origin, tuple(helpers)), doc


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        position = Position(line, column, line, column)
        raise ProgramError(f"the text is no Python: {error.msg}", f"a program begins like {HEADER}", position) from None
    except (RecursionError, MemoryError):  # Python's parser has no other words for it
        raise ProgramError("the program is nested too deeply", "give parts of it names") from None
    except ValueError as error:
        raise ProgramError(f"the text can't be parsed: {error}") from None


def _the_function(module: ast.Module) -> tuple[ast.FunctionDef, list[ast.FunctionDef]]:
    """The program, and its helpers: the others, which have no sizes."""
    functions = []
    for node in module.body:
        match node:
            case ast.FunctionDef():
                functions.append(node)
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.ImportFrom(module="descant.programs", level=0):
                pass  # so that the same file is a Python module too
            case _:
                raise ProgramError(
                    "only functions, a docstring and `from descant.programs import ...` may stand in a program",
                    "move the rest elsewhere",
                    position_of(node),
                )
    programs = functions
    if len(functions) > 1:
        programs = [each for each in functions if each.decorator_list] or [each for each in functions if _sized(each)]
    if len(programs) != 1:
        raise ProgramError(
            f"the text has {len(programs)} functions with sizes",
            f"expected one, such as {HEADER}; helpers have parameters without sizes",
        )
    function = programs[0]
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Name) and decorator.id == "program"):
            raise ProgramError("a decorator other than @program", "leave it out", position_of(decorator))
    return function, [each for each in functions if each is not function]


def _sized(function: ast.FunctionDef) -> bool:
    arguments = (*function.args.posonlyargs, *function.args.args)
    return any(isinstance(each.annotation, ast.Constant) for each in arguments)


def _signature(function: ast.FunctionDef) -> Signature:
    arguments = function.args
    if arguments.vararg or arguments.kwarg:
        raise ProgramError("parameters with * or **", "name every parameter", position_of(function))
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    parameters = []
    for argument, default in zip(positional, [*defaults, *arguments.defaults], strict=True):
        position = position_of(argument)
        if default is not None and not (isinstance(default, ast.Constant) and default.value == 0):
            raise ProgramError(
                f"the matrix {argument.arg} has a default other than 0",
                "`= 0` marks state that starts at zero; scalars stand after a *",
                position,
            )
        sizes = argument.annotation.value if isinstance(argument.annotation, ast.Constant) else None
        try:
            parameters.append(Parameter.read(argument.arg, sizes, default is not None, position))
        except ProgramError as error:
            raise error.located(position, "program") from None
    scalars = {}
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is None:
            raise ProgramError(
                f"the scalar {argument.arg} has no default", f"write {argument.arg}=0.1", position_of(argument)
            )
        scalars[argument.arg] = _number(default)
    return Signature(function.name, tuple(parameters), scalars)


def _number(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS and not isinstance(op, ast.MatMult):
            with At(node):
                return calculate(OPERATORS[type(op)], _number(left), _number(right))
    raise ProgramError("a scalar's default is no number", "write a number, such as eta=0.1", position_of(node))
