"""The text's own front end: walks a checked syntax tree on symbolic matrices. Python is handed nothing to execute."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from operator import neg, pos
from typing import Any

from . import _matrix
from ._errors import Position, ProgramError
from ._matrix import Matrix
from ._scalars import FUNCTIONS, OPERATORS, calculate
from ._trace import Trace
from ._whitelist import MATRIX_FUNCTIONS, position_of


class Executor:
    """One run through a function's statements."""

    def __init__(self, names: dict[str, Any]):
        self.names = names
        self.trace = Trace(lambda: self.position)
        self.position: Position | None = None

    def run(self, statements: list[ast.stmt]) -> list[Any]:
        """The values of the final return."""
        for statement in statements[:-1]:
            self._statement(statement)
        final = statements[-1]
        assert isinstance(final, ast.Return) and final.value is not None
        parts = final.value.elts if isinstance(final.value, ast.Tuple) else [final.value]
        return [self._value(part) for part in parts]

    @contextmanager
    def _at(self, node: ast.AST) -> Iterator[None]:
        """Errors and instructions in here stand at this node."""
        self.position = position_of(node)
        try:
            yield
        except ProgramError as error:
            raise error.located(position_of(node), error.origin) from None

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.names[name] = self._value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._assign_many(node, targets, value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self._place(target, self._value(value))
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                read = ast.Subscript(target.value, target.slice, ast.Load())
                old = self._value(ast.copy_location(read, target.slice))
                self._place(target, self._binary(node, op, old, self._value(value)))
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
                self.names[target.id] = self._binary(node, op, self._value(load), self._value(value))
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=arguments) as call, body=body):
                bounds = [self._value(argument) for argument in arguments]
                with self._at(call):
                    indices = checked_range(*bounds)
                for index in self.trace.loop(indices, lambda: addresses(self.names)):
                    self.names[name] = index
                    for statement in body:
                        self._statement(statement)

    def _place(self, target: ast.Subscript, part: Any) -> None:
        """The name holds a new matrix from here on; other names keep theirs."""
        assert isinstance(target.value, ast.Name)
        matrix, key = self._value(target.value), self._key(target.slice)
        with self._at(target):
            if not isinstance(matrix, Matrix):
                raise ProgramError("an assignment to a part of something that is no matrix", "only matrices have parts")
            self.names[target.value.id] = matrix.placed(key, part)

    def _assign_many(self, node: ast.Assign, targets: list, value: ast.expr) -> None:
        values = [self._value(part) for part in value.elts] if isinstance(value, (ast.Tuple, ast.List)) else []
        if len(values) != len(targets):
            raise ProgramError(
                f"{len(targets)} names for {len(values) or 'no list of'} values", "write a, b = x, y", position_of(node)
            )
        self.names.update((target.id, each) for target, each in zip(targets, values, strict=True))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                if name not in self.names:
                    known = ", ".join(self.names)
                    raise ProgramError(f"{name} is not defined here", f"known names: {known}", position_of(node))
                return self.names[name]
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand):
                value = self._value(operand)
                with self._at(node):
                    return (neg if isinstance(op, ast.USub) else pos)(self._number_or_matrix(value))
            case ast.Attribute(value=value):
                matrix = self._value(value)
                with self._at(node):
                    if not isinstance(matrix, Matrix):
                        raise ProgramError("a number has no transpose", "leave .T out")
                    return matrix.T
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [self._value(part) for part in parts]
            case ast.Subscript(value=value, slice=key):
                matrix, bounds = self._value(value), self._key(key)
                with self._at(node):
                    if not isinstance(matrix, Matrix):
                        raise ProgramError("a slice of something that is no matrix", "only matrices have parts")
                    return matrix[bounds]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                values = [self._value(argument) for argument in arguments]
                with self._at(node):
                    return self._call(name, values)
        raise ProgramError("this can't be compiled here", "a value was expected", position_of(node))

    def _key(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            bounds = (None if each is None else self._value(each) for each in (node.lower, node.upper, node.step))
            return slice(*bounds)
        if isinstance(node, ast.Tuple):
            return tuple(self._key(each) for each in node.elts)
        return self._value(node)

    def _binary(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        with self._at(node):
            left, right = self._number_or_matrix(left), self._number_or_matrix(right)
            function = OPERATORS[type(op)]
            if isinstance(left, Matrix) or isinstance(right, Matrix):
                if isinstance(op, (ast.FloorDiv, ast.Mod)):
                    raise ProgramError("rounding of matrices", "attention computes + - @ .T and scalar multiples")
                if isinstance(op, ast.Pow) and not isinstance(left, Matrix):
                    raise ProgramError("a power with a matrix as exponent", "expand it as a series in a loop")
                return function(left, right)
            return calculate(function, left, right)

    def _call(self, name: str, values: list[Any]) -> Any:
        if name in self.names:
            raise ProgramError(f"{name} is a value here, no function", "rename the variable")
        if name in MATRIX_FUNCTIONS:
            function = getattr(_matrix, name)
            try:
                signature(function).bind(*values)
            except TypeError:
                takes = ", ".join(signature(function).parameters)
                raise ProgramError(f"{name} with {len(values)} arguments", f"it takes {takes}") from None
            return function(*values)
        if name in FUNCTIONS:
            if any(not isinstance(value, (int, float)) for value in values):
                raise ProgramError(
                    f"the element-wise function {name} of a matrix",
                    "attention computes + - @ .T and scalar multiples; expand it as a series of products",
                )
            return calculate(FUNCTIONS[name], *values)
        raise ProgramError(f"{name} can't be called here", "a range is only for loops")

    def _number_or_matrix(self, value: Any) -> Any:
        if isinstance(value, (Matrix, int, float)):
            return value
        raise ProgramError("arithmetic with a list", "write constant([[1, 2], [3, 4]]) for a matrix")


def checked_range(*bounds: Any) -> range:
    """A range with whole bounds."""
    if not 1 <= len(bounds) <= 3:
        raise ProgramError(f"range with {len(bounds)} arguments", "it takes one to three whole numbers")
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, int):
            words = f"{bound!r}" if isinstance(bound, (int, float)) else "no number"
            raise ProgramError(f"a bound of range is {words}", "expected a whole number known when compiling")
    if len(bounds) == 3 and bounds[2] == 0:
        raise ProgramError("a range with step 0", "expected another step")
    return range(*bounds)


def addresses(names: dict[str, Any]) -> dict[str, int]:
    """Which names hold matrices, and which ones."""
    return {name: value.address for name, value in names.items() if isinstance(value, Matrix)}
