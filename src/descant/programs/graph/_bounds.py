"""How much may be computed of constants while compiling, so that no text keeps the compiler busy or fills the memory.

A program writes down few numbers, but their products and sums are constants too, and all of them are kept.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..language import Body, ProgramError

# Numbers in one constant.
LARGEST = 10**7
# Products of two numbers, and numbers in all constants that come of them, for one way to write a program.
MOST = {"products": 10**11, "numbers": 2 * 10**8}
# To fetch a number takes about as long as so many products.
FETCHED = 100

_spent: ContextVar[Counter[str]] = ContextVar("spent")


@contextmanager
def bounded() -> Iterator[None]:
    """Count what is computed in here."""
    token = _spent.set(Counter())
    try:
        yield
    finally:
        _spent.reset(token)


def made(rows: int, columns: int, inner: int = 0) -> None:
    """Count a constant of this shape that is about to be made, by a sum over so many products."""
    if rows * columns > LARGEST:
        raise ProgramError(f"constants that make a matrix of {rows} x {columns}", "lower the sizes")
    spend("numbers", rows * columns)
    spend("products", _products(rows, columns, inner))


def spend(what: str, count: int) -> None:
    """Count products or numbers; outside of `bounded` nobody does."""
    spent = _spent.get(None)
    if spent is None:
        return
    spent[what] += count
    if spent[what] > MOST[what]:
        raise ProgramError(
            f"constants of the program take more than {MOST[what]} {what} when they are put together",
            "lower their sizes, or the counts of its loops",
        )


def _products(rows: int, columns: int, inner: int) -> int:
    return rows * columns * inner + FETCHED * (rows * columns + (rows + columns) * inner)


def products(body: Body) -> int:
    """Products of numbers that it takes to run a program on matrices, about."""
    found = 0
    for each in body.instructions:
        if each.op == "repeat":
            found += each.attribute.count * products(each.attribute.body)
        else:
            inner = body.instructions[each.operands[0]].shape[1] if each.op == "multiply" else 0
            found += _products(*each.shape, inner)
    return found
