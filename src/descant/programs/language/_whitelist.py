"""What a program's text may contain. Everything else is refused before anything is looked at twice."""

import ast
from collections.abc import Collection, Iterator

from ._errors import Position, ProgramError
from ._functions import MATRIX_FUNCTIONS
from ._matrix import NO_INVERSE
from ._scalars import COMPARISONS, FUNCTIONS, OPERATORS

LOOP_ADVICE = "loops are written `for t in range(T):`"
ONE_FUNCTION = "a program is a function, with helpers `def f(a, b):` that end with a return"
STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Match: ("a match", "write if, elif and else, on numbers"),
    ast.While: ("a while loop", LOOP_ADVICE),
    ast.Break: ("a way out of a loop", "the number of iterations must be known when compiling"),
    ast.Continue: ("a way out of an iteration", "the number of iterations must be known when compiling"),
    ast.AsyncFunctionDef: ("an asynchronous function", ONE_FUNCTION),
    ast.ClassDef: ("a class", ONE_FUNCTION),
    ast.Lambda: ("a lambda", ONE_FUNCTION),
    ast.ListComp: ("a comprehension", LOOP_ADVICE),
    ast.GeneratorExp: ("a comprehension", LOOP_ADVICE),
    ast.Import: ("an import", "only `from descant.programs import ...` may stand above the function"),
    ast.ImportFrom: ("an import", "only `from descant.programs import ...` may stand above the function"),
    ast.AnnAssign: ("an annotated assignment", "write w = ..."),
}
INVERSES = ("inv", "solve", "pinv", "lstsq", "cholesky", "qr", "svd", "eigh", "eig", "matrix_power", "det")
ALLOWED = (
    *(ast.Assign, ast.AugAssign, ast.For, ast.If, ast.Return, ast.Pass),
    *(ast.BinOp, ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.Name, ast.Load, ast.Store),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *(ast.IfExp, ast.Compare, ast.BoolOp, ast.And, ast.Or),
    *OPERATORS,
    *COMPARISONS,
)


def position_of(node: ast.AST) -> Position | None:
    """Where a node stands."""
    if not hasattr(node, "lineno"):
        return None
    return Position(node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)  # type: ignore


def check_function(function: ast.FunctionDef, helpers: Collection[str] = ()) -> None:
    """Refuse a function with anything that is not on the list, or without one `return` at its end.

    `helpers` are functions of the text that it may call; those in it come on top.
    """
    body = body_of(function)
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node is not function]
    known = frozenset((*helpers, *(each.name for each in inner)))
    for statement in body:
        _Checker(known).check(statement, None)
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        raise ProgramError(
            f"{function.name} does not end with a return of matrices",
            "end it with `return w`",
            position_of(body[-1] if body else function),
        )
    for statement in body[:-1]:
        for node in _own_nodes(statement):
            if isinstance(node, ast.Return):
                raise ProgramError("a return before the end", "return once, in the last line", position_of(node))


def check_helper(function: ast.FunctionDef, helpers: Collection[str] = ()) -> None:
    """Refuse a helper with parameters that a call can't fill, or with anything that is not on the list."""
    arguments, position = function.args, position_of(function)
    if function.decorator_list:
        raise ProgramError("a decorator of a helper", "leave it out", position)
    if arguments.vararg or arguments.kwarg:
        raise ProgramError("parameters with * or **", "name every parameter", position)
    parameters = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    if len(set(parameters)) < len(parameters):
        raise ProgramError(f"{function.name} has two parameters of one name", "rename one of them", position)
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            _Checker(frozenset()).check(default, function)
    check_function(function, helpers)


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function after its docstring."""
    return function.body[1:] if _is_text(function.body[0]) else function.body


def assigned_in(function: ast.FunctionDef) -> dict[str, ast.AST]:
    """The names that a function gives values to, and where; not those of functions in it."""
    found: dict[str, ast.AST] = {}
    for statement in function.body:
        for node in _own_nodes(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.setdefault(node.id, node)
            elif isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, node)
    return found


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """All nodes of a statement, without those inside of functions."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


class _Checker:
    def __init__(self, helpers: Collection[str]):
        self.helpers = helpers

    def check(self, node: ast.AST, parent: ast.AST | None) -> None:
        """Refuse what is not on the list."""
        position = position_of(node) or (position_of(parent) if parent is not None else None)
        match node:
            case _ if type(node) in STATEMENTS:
                reason, advice = STATEMENTS[type(node)]
                raise ProgramError(f"{reason} can't be compiled", advice, position)
            case ast.FunctionDef():
                check_helper(node, self.helpers)
                return
            case ast.For():
                _check_loop(node)
            case ast.Assign(targets=targets):
                if not all(map(_is_target, targets)):
                    raise ProgramError("an assignment to something that is no name", "write w = ...", position)
            case ast.AugAssign(target=target):
                if not _is_target(target) or isinstance(target, ast.Tuple):
                    raise ProgramError("an assignment to something that is no name", "write w += ...", position)
            case ast.Call():
                self._check_call(node, position)
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self.check(argument, node)
                return
            case ast.Attribute(attr=attribute, value=value):
                if attribute != "T":
                    raise ProgramError(
                        f"the attribute .{attribute} can't be compiled", "matrices have only .T", position
                    )
                self.check(value, node)
                return
            case ast.Constant(value=value):
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    shown = repr(value) if len(repr(value)) < 60 else f"{repr(value)[:50]}..."
                    raise ProgramError(f"{shown} is no number", "expected a whole or real number", position)
                return
            case ast.Expr():
                raise ProgramError("a line that computes something and drops it", "give the value a name", position)
            case _ if not isinstance(node, ALLOWED):
                word = type(node).__name__
                raise ProgramError(f"{word} can't be compiled", "a program has assignments, loops, + - @ .T", position)
        for child in ast.iter_child_nodes(node):
            self.check(child, node if position_of(node) else parent)

    def _check_call(self, node: ast.Call, position: Position | None) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in (*MATRIX_FUNCTIONS, *FUNCTIONS, *self.helpers, "range"):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else name
            advice = f"there are {', '.join(MATRIX_FUNCTIONS)}, and {', '.join(FUNCTIONS)} of numbers"
            if called in INVERSES:
                advice = NO_INVERSE
            raise ProgramError(f"the function {called or 'called here'} can't be compiled", advice, position)
        if any(keyword.arg is None for keyword in node.keywords):
            raise ProgramError("a call with **", "give every argument by itself", position)
        if node.keywords and name in (*FUNCTIONS, "range"):
            raise ProgramError(f"{name} with arguments by name", "give them in order", position)


def _check_loop(node: ast.For) -> None:
    call = node.iter
    if node.orelse:
        raise ProgramError("a loop with else can't be compiled", LOOP_ADVICE, position_of(node))
    if not isinstance(node.target, ast.Name):
        raise ProgramError("a loop over something that is no index", LOOP_ADVICE, position_of(node.target))
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        raise ProgramError("a loop over something that is no range", LOOP_ADVICE, position_of(call))


def _is_target(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(isinstance(each, ast.Name) for each in node.elts)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
