"""Values of expressions in a program's text."""

import ast
from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from inspect import Signature, signature
from operator import neg, pos
from typing import Any

from ._errors import ProgramError
from ._functions import MATRIX_FUNCTIONS
from ._limits import take_steps
from ._matrix import NO_BRANCH, Matrix
from ._scalars import COMPARISONS, FUNCTIONS, NUMBERS, OPERATORS, calculate
from ._scope import Function, Scope
from ._trace import Trace
from ._whitelist import position_of


class At:
    """Errors in here stand at a node, unless they have a place."""

    def __init__(self, node: ast.AST):
        self.node = node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, ProgramError):
            raise error.located(position_of(self.node), error.origin) from None


class Expressions:
    """The part of an executor that finds values."""

    def __init__(self, settings: Mapping[str, Any]):
        self.settings, self.numbers, self.scope = settings, NUMBERS, Scope({})
        self.node: ast.AST = ast.Pass()
        self.trace = Trace(lambda: position_of(self.node))
        # How many helpers are being run: what they do stands where the outermost was called, as in Python.
        self.depth = 0

    @abstractmethod
    def call_helper(self, helper: Function, values: list[Any], keywords: Mapping[str, Any]) -> Any:
        """What a helper returns."""

    def at(self, node: ast.AST) -> "At":
        """Errors and instructions in here stand at this node."""
        if self.depth == 0:
            self.node = node
        return At(node)

    def value(self, node: ast.expr) -> Any:
        """The value of an expression: a matrix, a number, or a list."""
        take_steps(self.trace, 1)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                with self.at(node):
                    return self.scope.find(name)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.condition(operand)
            case ast.UnaryOp(op=op, operand=operand):
                value = self.value(operand)
                with self.at(node):
                    return (neg if isinstance(op, ast.USub) else pos)(_number_or_matrix(value))
            case ast.Attribute(value=value):
                matrix = self.value(value)
                with self.at(node):
                    if not isinstance(matrix, Matrix):
                        raise ProgramError("a number has no transpose", "leave .T out")
                    return matrix.T
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return self.value(body if self.condition(test) else otherwise)
            case ast.Compare():
                return self._compared(node)
            case ast.BoolOp(op=op, values=values):
                # As in Python, the value is that of the part that decides, and the rest is not looked at.
                for part in values[:-1]:
                    value = self.value(part)
                    if self._holds(part, value) == isinstance(op, ast.Or):
                        return value
                return self.value(values[-1])
            case ast.Subscript(value=value, slice=key):
                matrix, bounds = self.value(value), self.key(key)
                with self.at(node):
                    if not isinstance(matrix, Matrix):
                        raise ProgramError("a slice of something that is no matrix", "only matrices have parts")
                    return matrix[bounds]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                values = [self.value(argument) for argument in arguments]
                named = {str(keyword.arg): self.value(keyword.value) for keyword in keywords}
                with self.at(node):
                    return self._call(name, values, named)
        raise ProgramError("this can't be compiled here", "a value was expected", position_of(node))

    def condition(self, node: ast.expr) -> bool:
        """Whether a condition holds, on numbers known when compiling."""
        return self._holds(node, self.value(node))

    def _holds(self, node: ast.expr, value: Any) -> bool:
        with self.at(node):
            if not isinstance(value, (Matrix, int, float)):
                raise ProgramError("a decision on something that is no number", NO_BRANCH)
            return bool(value)

    def _compared(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            with self.at(node):
                left, right = _number_or_matrix(left), _number_or_matrix(right)
                if not COMPARISONS[type(op)](left, right):
                    return False
            left = right
        return True

    def key(self, node: ast.expr) -> Any:
        """An index: numbers and slices."""
        if isinstance(node, ast.Slice):
            bounds = (None if each is None else self.value(each) for each in (node.lower, node.upper, node.step))
            return slice(*bounds)
        if isinstance(node, ast.Tuple):
            return tuple(self.key(each) for each in node.elts)
        return self.value(node)

    def binary(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        """An operation on two numbers, two matrices, or one of each."""
        with self.at(node):
            left, right = _number_or_matrix(left), _number_or_matrix(right)
            function = OPERATORS[type(op)]
            if isinstance(left, Matrix) or isinstance(right, Matrix):
                if isinstance(op, (ast.FloorDiv, ast.Mod)):
                    raise ProgramError("rounding of matrices", "attention computes + - @ .T and multiples")
                return function(left, right)
            return calculate(function, left, right)

    def _call(self, name: str, values: list[Any], keywords: Mapping[str, Any]) -> Any:
        if self.scope.knows(name):
            helper = self.scope.find(name)
            if not isinstance(helper, Function):
                raise ProgramError(f"{name} is a value here, no function", "rename the variable")
            return self.call_helper(helper, values, keywords)
        if name in MATRIX_FUNCTIONS:
            function = MATRIX_FUNCTIONS[name]
            takes = _signature(name)
            try:
                given = takes.bind(*values, **keywords).arguments
            except TypeError:
                takes = ", ".join(takes.parameters)
                raise ProgramError(f"{name} with other arguments than it takes", f"it takes {takes}") from None
            if isinstance(given.get("axis"), list):  # Python would put lists together, which may double in each line
                raise ProgramError(f"{name}() of lists", f"write {name}(A), or sum([A, B])")
            return function(*values, **keywords)
        if name in FUNCTIONS:
            if name in ("min", "max") and len(values) < 2:
                raise ProgramError(f"{name} of fewer than two numbers", f"write {name}(a, b)")
            if any(not isinstance(value, (int, float)) for value in values):
                raise ProgramError(
                    f"the element-wise function {name} of a matrix",
                    "attention computes + - @ .T and multiples; expand it as a series of products",
                )
            return calculate(FUNCTIONS[name], *values)
        advice = "a range is only for loops" if name == "range" else "define it above"
        raise ProgramError(f"{name} can't be called here", advice)


@cache
def _signature(name: str) -> Signature:
    return signature(MATRIX_FUNCTIONS[name])


def _number_or_matrix(value: Any) -> Any:
    if isinstance(value, (Matrix, int, float)):
        return value
    raise ProgramError("arithmetic with a list", "write constant([[1, 2], [3, 4]]) for a matrix")
