"""A smaller program that fails in the same way: statements are dropped, expressions replaced by parts of themselves."""

import ast
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from ._written import NAME, Written

SECONDS = 30.0


def shrunk(written: Written, outcome: Callable[[Written], str], seconds: float = SECONDS) -> Written:
    """The smallest program found within some time that ends as this one does.

    **Arguments:** `outcome` says how a program ends; programs that mean nothing (a name without a value, shapes that
    don't fit) may raise whatever they like.
    """
    wanted, end = outcome(written), time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(written):
            if time.monotonic() > end:
                return written
            if _ends(smaller, outcome) == wanted:
                written, progress = smaller, True
                break
    return written


def _ends(written: Written, outcome: Callable[[Written], str]) -> str:
    try:
        return outcome(written)
    except Exception:  # no program any more
        return ""


def _smaller(written: Written) -> Iterator[Written]:
    """Programs with one thing less, those that lose most first."""
    steps = written.settings.get("T", 0)
    for fewer in (1, 2, 3, steps // 2):
        if fewer < steps:
            yield replace(written, settings={**written.settings, "T": fewer})
    tree = ast.parse(written.text)
    for edit in _edits(tree):
        undo = edit()
        text = ast.unparse(tree) + "\n"
        undo()
        if len(text) < len(written.text):
            yield _tidied(replace(written, text=text))


Undo = Callable[[], None]


def _edits(tree: ast.Module) -> Iterator[Callable[[], Undo]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and not isinstance(node, ast.Module):
            for index, statement in enumerate(body):
                if not isinstance(statement, ast.Return):
                    yield lambda body=body, index=index: _spliced(body, index, [])
                if isinstance(statement, ast.For):
                    yield lambda body=body, index=index, inner=statement.body: _spliced(body, index, inner)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
            for index in range(len(node.value.elts)):
                yield lambda elements=node.value.elts, index=index: _spliced(elements, index, [])
    function = _function(tree)
    for index in range(len(function.args.args)):
        yield lambda index=index: _without_argument(function.args, index)
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for part in _parts(value):
                yield lambda node=node, name=name, part=part: _set(node, name, part)


def _function(tree: ast.Module) -> ast.FunctionDef:
    """The program; helpers stand above it."""
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == NAME)


def _parts(value: object) -> list[ast.expr]:
    """What may stand in an expression's place."""
    match value:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return [inner]
    return []


def _spliced(items: list, index: int, instead: list) -> Undo:
    before = list(items)
    items[index : index + 1] = instead
    if not items:
        items.append(ast.Pass())

    def undo() -> None:
        items[:] = before

    return undo


def _set(node: ast.AST, name: str, part: ast.expr) -> Undo:
    before = getattr(node, name)
    setattr(node, name, part)
    return lambda: setattr(node, name, before)


def _without_argument(arguments: ast.arguments, index: int) -> Undo:
    before = list(arguments.args), list(arguments.defaults)
    optional = index - (len(arguments.args) - len(arguments.defaults))
    del arguments.args[index]
    if optional >= 0:
        del arguments.defaults[optional]

    def undo() -> None:
        arguments.args[:], arguments.defaults[:] = before

    return undo


def _tidied(written: Written) -> Written:
    """Only the inputs and settings that the text still has."""
    arguments = _function(ast.parse(written.text)).args
    sizes = " ".join(str(each.annotation.value) for each in arguments.args if isinstance(each.annotation, ast.Constant))
    known = {*sizes.split(), *(each.arg for each in arguments.kwonlyargs)}
    inputs = {each.arg: written.inputs[each.arg] for each in arguments.args}
    settings = {name: value for name, value in written.settings.items() if name in known}
    return replace(written, inputs=inputs, settings=settings)
