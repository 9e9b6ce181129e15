"""What a training made of a program: every number before and after, in the program's words."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._compiled import CompiledProgram
from .._network import flat_blocks
from ..decompile import recover
from ..weights import NAMES
from ._free import FreeProgram, chosen, coefficient
from ._numbers import ALL, COEFFICIENTS, numbers


@dataclass(frozen=True)
class Change:
    """One number, or one matrix of numbers.

    `where` is its block, and the iteration; `what` it multiplies; `name` is that of the program's scalar which it was,
    if it was one. `before` and `after` are the number, of a matrix its largest entry then; `matrix` has a matrix's own
    row of eigenvalues (singular values if it is not symmetric) in words, and is empty for a number.
    """

    where: str
    what: str
    name: str
    before: float
    after: float
    matrix: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def changes(start: FreeProgram, after: CompiledProgram) -> list[Change]:
    """Every number that was free in a training, as it was and as it is; of `all` weights, every head's arrays."""
    blocks = list(flat_blocks(after.network.blocks))
    if start.free == ALL:
        return _arrays(start, after)
    found = []
    for each in chosen(numbers(recover(start.compiled)), start.free):
        rows, columns = each.start.shape
        array = np.asarray(getattr(blocks[each.block], each.array))[each.head]
        now = array[each.row : each.row + rows, each.column : each.column + columns]
        before = coefficient(each.start)
        name = _scalar(start.compiled, before)
        largest = np.argmax(np.abs(each.start)) if start.free == COEFFICIENTS else np.argmax(np.abs(now))
        words = "" if start.free == COEFFICIENTS or now.size == 1 else _spectrum(now)
        found.append(Change(start.labels[each.block], each.words, name, before, float(now.flat[largest]), words))
    return found


def _scalar(compiled: CompiledProgram, number: float) -> str:
    """The scalar of the program that a number is, or is the negative of; sizes and counts are none."""
    for name, value in compiled.description.settings:
        if isinstance(value, float) and value not in (0.0, 1.0) and abs(number) == abs(value):
            return name if number == value else f"−{name}"
    return ""


def _spectrum(matrix: np.ndarray) -> str:
    square = matrix.shape[0] == matrix.shape[1]
    symmetric = square and np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12)
    values = np.linalg.eigvalsh(matrix)[::-1] if symmetric else np.linalg.svd(matrix, compute_uv=False)
    words = f"{'eigenvalues' if symmetric else 'singular values'} {', '.join(f'{value:.4g}' for value in values[:6])}"
    words += ", …" if len(values) > 6 else ""
    return f"diagonal {', '.join(f'{value:.4g}' for value in np.diag(matrix)[:6])}; {words}" if square else words


def _arrays(start: FreeProgram, after: CompiledProgram) -> list[Change]:
    found = []
    pairs = zip(flat_blocks(start.compiled.network.blocks), flat_blocks(after.network.blocks), strict=True)
    for label, (old, new) in zip(start.labels, pairs, strict=True):
        for name, what in zip(NAMES, ("key", "value", "query") * 2, strict=True):
            before, now = np.asarray(getattr(old, name)), np.asarray(getattr(new, name))
            for head in range(before.shape[0]):
                kind = "weights" if name[0] == "w" else "biases"
                words = f"root mean square change {np.sqrt(np.mean((now[head] - before[head]) ** 2)):.3g}"
                then, later = (float(np.abs(each[head]).max()) for each in (before, now))
                found.append(Change(label, f"head {head + 1}, {kind} of the {what}", "", then, later, words))
    return found
