"""The text's own front end: walks a checked syntax tree on symbolic matrices. Python is handed nothing to execute."""

import ast
from collections.abc import Mapping
from typing import Any

from ._errors import ProgramError
from ._expressions import At, Expressions
from ._limits import take_steps
from ._loops import loop
from ._matrix import Matrix
from ._scope import Function, Scope
from ._whitelist import body_of, position_of


class Executor(Expressions):
    """One run through a function's statements."""

    def run(self, function: ast.FunctionDef, matrices: Mapping[str, Any], helpers: list[ast.FunctionDef]) -> list[Any]:
        """The values of the final return."""
        # Helpers above the program see each other and the numbers that every text may name, as in Python.
        around = Scope(dict(self.numbers))
        self.scope = around
        for helper in helpers:
            self._define(helper)
        functions = {name: value for name, value in around.values.items() if isinstance(value, Function)}
        self.scope = Scope({**functions, **self.numbers, **self.settings, **matrices})
        value = self._statements(body_of(function))
        return value if isinstance(value, list) else [value]

    def call_helper(self, helper: Function, values: list[Any], keywords: Mapping[str, Any]) -> Any:
        """Run through a helper's statements with names of its own; what it returns."""
        if helper.running:
            raise ProgramError(f"{helper.node.name} calls itself", "write a loop")
        take_steps(self.trace, 10)  # helpers that call each other twice would take forever
        outer, self.scope = self.scope, helper.bind(values, keywords)
        helper.running, self.depth = True, self.depth + 1
        try:
            return self._statements(body_of(helper.node))
        finally:
            self.scope, helper.running, self.depth = outer, False, self.depth - 1

    def _statements(self, statements: list[ast.stmt]) -> Any:
        for statement in statements[:-1]:
            self._statement(statement)
        final = statements[-1]
        assert isinstance(final, ast.Return) and final.value is not None
        with At(final):
            return self.value(final.value)

    def _statement(self, node: ast.stmt) -> None:
        with At(node):
            self._do(node)

    def _do(self, node: ast.stmt) -> None:
        take_steps(self.trace, 1)
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self._assign(target, found)
            case ast.AugAssign(target=target, op=op, value=value):
                old = self.value(_read(target))
                self._assign(target, self.binary(node, op, old, self.value(value)))
            case ast.If(test=test, body=body, orelse=otherwise):
                for statement in body if self.condition(test) else otherwise:
                    self._statement(statement)
            case ast.FunctionDef():
                self._define(node)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=arguments) as call, body=body):
                bounds = tuple(self.value(argument) for argument in arguments)
                indices = loop(self.trace, bounds, lambda: self.scope.values)
                while True:
                    with self.at(call):
                        index = next(indices, None)
                    if index is None:
                        break
                    self.scope.values[name] = index
                    for statement in body:
                        self._statement(statement)

    def _define(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        ordered = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        last = len(ordered) - len(arguments.defaults)
        pairs = [*zip(ordered[last:], arguments.defaults, strict=True)]
        pairs += [
            (each.arg, default)
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        defaults = {name: self.value(default) for name, default in pairs}
        self.scope.values[node.name] = Function(node, defaults, self.scope)

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.scope.values[name] = value
            case ast.Tuple(elts=targets):
                values = value if isinstance(value, list) else []
                if len(values) != len(targets):
                    raise ProgramError(
                        f"{len(targets)} names for {len(values) or 'no list of'} values",
                        "write a, b = x, y",
                        position_of(target),
                    )
                for each, part in zip(targets, values, strict=True):
                    self._assign(each, part)
            case ast.Subscript(value=ast.Name(id=name) as whole, slice=index):
                matrix, key = self.value(whole), self.key(index)
                with self.at(target):
                    if not isinstance(matrix, Matrix):
                        raise ProgramError("an assignment to a part of something that is no matrix", "w = zeros(n, d)")
                    # The name holds a new matrix from here on; other names keep theirs.
                    self.scope.values[name] = matrix.placed(key, value)


def _read(target: ast.expr) -> ast.expr:
    """What reads the target of an assignment. A part is read where its index stands: its target's place has a name."""
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target.slice)
    assert isinstance(target, ast.Name)
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)
