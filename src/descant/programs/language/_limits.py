"""How large a program may get, so that no text keeps the compiler busy or fills the memory."""

from . import _trace
from ._errors import ProgramError
from ._instructions import Shape
from ._trace import Trace

# Numbers in one matrix; also in one matrix that takes a part out of another.
LARGEST = 10**7
# Numbers in all matrices that a program writes down itself, and in all that take parts out of others; the latter are
# only made for operations that are left when loops have been rolled up.
LARGEST_TOTAL = {"constants": 2 * 10**7, "parts": 2 * 10**8}
# Products of numbers in one element-wise product: each is a product of its own for attention.
MOST_PRODUCTS = 1024
# Its rows, or its columns if those are more: each takes blocks of its own.
MOST_ROWS = 256
# Products of numbers in all element-wise products of a program that have many.
MANY_PRODUCTS, MOST_IN_ALL = 256, 4096
# Rows of a diagonal that is made of numbers: each takes a head.
LONGEST_DIAGONAL = 128


def check_shape(shape: Shape) -> None:
    """Refuse a matrix of more numbers than the compiler can handle."""
    if shape[0] * shape[1] > LARGEST:
        raise ProgramError(f"a matrix of {_short(shape[0])} x {_short(shape[1])} is too large", "lower the sizes")


def _short(size: int) -> str:
    return str(size) if size < 10**12 else "more than 10**12"


def write_down(trace: Trace, rows: int, columns: int, what: str = "constants") -> None:
    """Count a constant of this shape that the program needs."""
    check_shape((rows, columns))
    trace.spent[what] += rows * columns
    if trace.spent[what] > LARGEST_TOTAL[what]:
        raise ProgramError(
            f"the program has {what} of more than {LARGEST_TOTAL[what]} numbers",
            "lower the sizes, or the counts of its loops",
        )


def take_steps(trace: Trace, steps: int) -> None:
    """Count parts of expressions: there may be four for every operation that may be recorded."""
    trace.spent["steps"] += steps
    if trace.spent["steps"] > 4 * _trace.LONGEST:
        raise ProgramError(
            f"the program takes more than {_trace.LONGEST} steps when its loops are run",
            "lower the counts of its loops",
        )
