"""Constant matrices and numbers as text: exactly, and as short as the language can say them."""

import numpy as np

# Longer lists of rows are written one below the other.
WIDE = 72


def number(value: float) -> str:
    """A number that reads back as the same bits."""
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else repr(float(value))


def multiple(array: np.ndarray) -> tuple[float, str]:
    """A matrix as a number times what is written: eye, a part of it, ones, or the entries themselves."""
    rows, columns = array.shape
    first = float(array.flat[np.flatnonzero(array)[0]]) if array.any() else 0.0
    if first == 0.0:
        return 1.0, f"zeros({rows}, {columns})"
    if np.array_equal(array, first * np.ones((rows, columns))) and array.size > 1:
        return first, f"ones({rows}, {columns})"
    part = selection(array)
    if part is not None:
        factor, start = part
        size = max(rows, columns)
        if rows == columns:
            return factor, f"eye({size})"
        cut = f":, {start}:{start + columns}" if rows > columns else f"{start}:{start + rows}, :"
        return factor, f"eye({size})[{cut}]"
    return 1.0, f"constant({entries(array)})"


def selection(array: np.ndarray) -> tuple[float, int] | None:
    """c and the first row or column, if the matrix is c times that many rows, or columns, of the identity."""
    rows, columns = array.shape
    found = np.argwhere(array)
    if not len(found) or len(found) != min(rows, columns):
        return None
    start = int(abs(found[0][0] - found[0][1]))
    factor = float(array[tuple(found[0])])
    eye = np.eye(max(rows, columns))
    part = eye[:, start : start + columns] if rows >= columns else eye[start : start + rows]
    return (factor, start) if np.array_equal(array, factor * part) else None


def entries(array: np.ndarray) -> str:
    """Rows in brackets."""
    lines = ["[" + ", ".join(number(float(value)) for value in row) + "]" for row in array]
    short = ", ".join(lines)
    return (
        f"[{short}]"
        if len(short) <= WIDE
        else "[\n" + "".join(f"            {line},\n" for line in lines) + "        ]"
    )
