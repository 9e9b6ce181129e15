"""Models along a training: one file of them, few, and the same ones whenever a training is interrupted."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .. import _tensors
from ._checkpoint import REMEDY, check_owner

FORMAT = "descant-snapshots-1"
# Larger models are not kept along the way.
MOST_BYTES = 4 * 2**20


def due(before: int, after: int) -> bool:
    """Whether a snapshot is taken when rows go from one count to another: at 1, 2, 3, 4, 6, 8, 12, 16, 24, ... rows.

    Rows are counted from the beginning of a training, so that it doesn't matter where it was interrupted.

    >>> [row for row in range(1, 30) if due(row - 1, row)]
    [1, 2, 3, 4, 6, 8, 12, 16, 24]
    """
    power = 1
    while power <= after:
        if before < power <= after or before < 3 * power // 2 <= after:
            return True
        power *= 2
    return False


def to_bytes(snapshots: Mapping[int, bytes], key: str) -> bytes:
    """The file's content; `key` is that of the run."""
    arrays = {str(row): np.frombuffer(snapshots[row], np.uint8) for row in sorted(snapshots)}
    return _tensors.to_bytes(arrays, {"format": FORMAT, "key": key})


def load(path: Path, key: str) -> dict[int, bytes]:
    """The models in a file, as bytes, by how many rows there were; a `ValueError` unless it is of that run."""
    arrays, note = _tensors.read(path, REMEDY)
    if note.get("format") != FORMAT or not all(name.isdecimal() for name in arrays):
        raise ValueError(f"{path} is not of the format {FORMAT!r}; {REMEDY}.")
    try:
        check_owner(str(note.get("key")), key)
    except ValueError as error:
        raise ValueError(f"{path} can't be read: {error}; {REMEDY}.") from None
    return {int(name): arrays[name].tobytes() for name in sorted(arrays, key=int)}
