"""Arithmetic on numbers known when compiling: a white list, bounded so that no text can keep the compiler busy."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from ._errors import ProgramError

LARGEST_BITS = 1024

FUNCTIONS: dict[str, Callable] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "abs": abs,
    "min": min,
    "max": max,
}
# Numbers that programs know by name. The letter e is none of them: it is a residual in most programs, and exp(1) in
# the others.
NUMBERS = {"pi": math.pi}

OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
COMPARISONS: dict[type, Callable] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def calculate(function: Callable, *numbers: Any) -> Any:
    """A function of numbers; every way in which it can fail is a message."""
    if function is operator.pow and all(isinstance(number, int) for number in numbers):
        base, exponent = numbers
        # At least this many bits; a negative exponent makes a real number, which has 64.
        if exponent * (base.bit_length() - 1) > LARGEST_BITS:
            raise ProgramError(f"the power {kind(base)} ** {kind(exponent)} is too large")
    try:
        value = function(*numbers)
    except ZeroDivisionError:
        raise ProgramError("division by zero") from None
    except OverflowError:
        raise ProgramError("a number grows too large") from None
    except (ValueError, TypeError) as error:
        raise ProgramError(f"a number can't be computed: {error}") from None
    if isinstance(value, complex):
        raise ProgramError("a root of a negative number")
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        raise ProgramError("a whole number grows too large")
    return value


def checked_number(value: Any) -> float:
    """A scalar known when compiling."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ProgramError(f"a multiple by {kind(value)}", "expected a number known when compiling")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ProgramError(f"the number {number} is not finite", "check the scalars it is computed from")
    return number


def kind(value: Any) -> str:
    """A value in words: a number as it is, anything else by its type."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a very large number"  # Python refuses to write out the longest
    if isinstance(value, (bool, int, float, str)):
        return repr(value)
    return f"a {type(value).__name__}"


def size_of(text: str, numbers: Mapping[str, Any]) -> int:
    """A size such as d, 3 or n+1."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text) from None
    value = _value(node, text, numbers)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ProgramError(f"the size {text} is {value!r}", "expected a whole number of at least 1")
    return value


def names_in(text: str) -> list[str]:
    """The letters of a size."""
    try:
        return [node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text) from None


def _value(node: ast.expr, text: str, numbers: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            if name not in numbers:
                raise ProgramError(f"the size {name} is not known", f"give it a value, for example --set {name}=5")
            return numbers[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return calculate(OPERATORS[type(op)], _value(left, text, numbers), _value(right, text, numbers))
    raise _unreadable(text)


def _unreadable(text: str) -> ProgramError:
    shown = text if len(text) < 60 else text[:50] + "..."
    return ProgramError(f"the size {shown!r} can't be read", "write a letter, a number, or a sum such as n+1")
