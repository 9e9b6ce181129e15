"""What a program's text may contain. Everything else is refused before anything is looked at twice."""

import ast

from ._errors import Position, ProgramError
from ._matrix import NO_BRANCH, NO_INVERSE
from ._scalars import FUNCTIONS, OPERATORS

MATRIX_FUNCTIONS = ("eye", "zeros", "ones", "constant", "hstack", "vstack", "place")

LOOP_ADVICE = "loops are written `for t in range(T):`"
ONE_FUNCTION = "a program is one function, without helpers"
STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.If: ("a branch", NO_BRANCH),
    ast.IfExp: ("a branch", NO_BRANCH),
    ast.Compare: ("a comparison", NO_BRANCH),
    ast.BoolOp: ("a branch", NO_BRANCH),
    ast.Match: ("a branch", NO_BRANCH),
    ast.While: ("a while loop", LOOP_ADVICE),
    ast.Break: ("a way out of a loop", "the number of iterations must be known when compiling"),
    ast.Continue: ("a way out of an iteration", "the number of iterations must be known when compiling"),
    ast.FunctionDef: ("a function in a function", ONE_FUNCTION),
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
    *(ast.Assign, ast.AugAssign, ast.For, ast.Return, ast.Pass),
    *(ast.BinOp, ast.UnaryOp, ast.USub, ast.UAdd, ast.Name, ast.Load, ast.Store),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *OPERATORS,
)


def position_of(node: ast.AST) -> Position | None:
    """Where a node stands."""
    if not hasattr(node, "lineno"):
        return None
    return Position(node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)  # type: ignore


def check_function(function: ast.FunctionDef) -> None:
    """Refuse a function with anything that is not on the list, or without one `return` at its end."""
    body = function.body
    if _is_text(body[0]):
        body = body[1:]
    for statement in body:
        _check(statement, None)
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        raise ProgramError(
            f"{function.name} does not end with a return of matrices",
            "end it with `return w`",
            position_of(body[-1] if body else function),
        )
    for statement in body[:-1]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return):
                raise ProgramError("a return before the end", "return once, in the last line", position_of(node))


def _check(node: ast.AST, parent: ast.AST | None) -> None:
    position = position_of(node) or (position_of(parent) if parent is not None else None)
    match node:
        case _ if type(node) in STATEMENTS:
            reason, advice = STATEMENTS[type(node)]
            raise ProgramError(f"{reason} can't be compiled", advice, position)
        case ast.For():
            _check_loop(node)
        case ast.Assign(targets=targets):
            if len(targets) > 1 or not _is_target(targets[0]):
                raise ProgramError("an assignment to something that is no name", "write w = ...", position)
        case ast.AugAssign(target=target):
            if not _is_target(target) or isinstance(target, ast.Tuple):
                raise ProgramError("an assignment to something that is no name", "write w += ...", position)
        case ast.Call():
            _check_call(node, position)
            for argument in node.args:
                _check(argument, node)
            return
        case ast.Attribute(attr=attribute, value=value):
            if attribute != "T":
                raise ProgramError(f"the attribute .{attribute} can't be compiled", "matrices have only .T", position)
            _check(value, node)
            return
        case ast.Constant(value=value):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ProgramError(f"{value!r} is no number", "expected a whole or real number", position)
            return
        case ast.Expr():
            raise ProgramError("a line that computes something and drops it", "give the value a name", position)
        case _ if not isinstance(node, ALLOWED):
            word = type(node).__name__
            raise ProgramError(f"{word} can't be compiled", "a program has assignments, loops, + - @ .T", position)
    for child in ast.iter_child_nodes(node):
        _check(child, node if position_of(node) else parent)


def _check_loop(node: ast.For) -> None:
    call = node.iter
    if node.orelse:
        raise ProgramError("a loop with else can't be compiled", LOOP_ADVICE, position_of(node))
    if not isinstance(node.target, ast.Name):
        raise ProgramError("a loop over something that is no index", LOOP_ADVICE, position_of(node.target))
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        raise ProgramError("a loop over something that is no range", LOOP_ADVICE, position_of(call))


def _check_call(node: ast.Call, position: Position | None) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else None
    if name not in (*MATRIX_FUNCTIONS, *FUNCTIONS, "range"):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else name
        advice = f"there are {', '.join(MATRIX_FUNCTIONS)}, and {', '.join(FUNCTIONS)} of numbers"
        if called in INVERSES:
            advice = NO_INVERSE
        raise ProgramError(f"the function {called or 'called here'} can't be compiled", advice, position)
    if node.keywords:
        raise ProgramError(f"{name} with arguments by name", "give them in order", position)


def _is_target(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(isinstance(each, ast.Name) for each in node.elts)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
