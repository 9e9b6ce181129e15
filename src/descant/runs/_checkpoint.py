"""A training's state as one safetensors file: arrays by name, everything else as JSON in the metadata."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors

from .. import _tensors
from .._sealed import check_fields, digest
from .._trainer import State

FORMAT = "descant-checkpoint-1"
REMEDY = "delete the run and start it again"
NOTE = {"key": str, "names": list, "info": dict, "metrics": dict}
MARK = {"rows": int, "size": int, "chain": str}


@dataclass(frozen=True)
class Mark:
    """How much of the metrics on disk belongs to a checkpoint. What follows was written by a process that died.

    `chain` is a digest of all lines, each after the digest of those before it: to go on it needs the new lines only.
    """

    rows: int = 0
    size: int = 0
    chain: str = ""

    def after(self, lines: bytes) -> "Mark":
        """The mark after further whole lines."""
        chain, each = self.chain, lines.split(b"\n")[:-1]
        for text in each:
            chain = digest(chain.encode() + text)
        return Mark(self.rows + len(each), self.size + len(lines), chain)


def to_bytes(state: State, mark: Mark, key: str) -> bytes:
    """The file's content; `key` is that of the run, so that no other goes on from it."""
    _check_info("state.info", state.info)
    arrays = {name: np.array(array, order="C") for name, array in state.arrays.items()}
    # The names are kept in order: a training may sum over its arrays, and sums depend on the order.
    note = {"format": FORMAT, "key": key, "names": list(arrays), "info": state.info, "metrics": asdict(mark)}
    try:
        return _tensors.to_bytes(arrays, note)
    except safetensors.SafetensorError as error:
        raise ValueError(f"state.arrays can't be saved: {error}.") from None


def load(path: Path, key: str) -> tuple[State, Mark]:
    """The state in a file, and its mark; a `ValueError` unless the file is of the run of that key."""
    arrays, note = _tensors.read(path, REMEDY)
    if note.get("format") != FORMAT:
        raise ValueError(f"{path} is not of the format {FORMAT!r}; {REMEDY}.")
    try:
        check_fields(note, NOTE)
        check_fields(note["metrics"], MARK)
        check_owner(note["key"], key)
        if not all(isinstance(name, str) for name in note["names"]) or set(note["names"]) != set(arrays):
            raise ValueError("the names of its arrays are not those that it lists")
    except ValueError as error:
        raise ValueError(f"{path} can't be read: {error}; {REMEDY}.") from None
    mark = Mark(**{name: note["metrics"][name] for name in MARK})
    return State({name: arrays[name] for name in note["names"]}, note["info"]), mark


def check_owner(found: str, key: str) -> None:
    """A `ValueError` if a file holds the key of another run than the one that it lies with."""
    if found != key:
        raise ValueError(f"it belongs to the run of the key {found!r}, and lies with the one of {key!r}")


def mark_of(path: Path, key: str) -> Mark:
    """The mark in a file; nothing at all if there is no file."""
    try:
        return load(path, key)[1]
    except FileNotFoundError:
        return Mark()


def _check_info(name: str, value: Any) -> None:
    """Only what JSON gives back as it was: a tuple would come back as a list, and the run would not be the same."""
    if type(value) is dict and all(type(key) is str for key in value):
        for key, item in value.items():
            _check_info(f"{name}[{key!r}]", item)
    elif type(value) is list:
        for index, item in enumerate(value):
            _check_info(f"{name}[{index}]", item)
    elif value is not None and type(value) not in (bool, int, float, str):
        raise ValueError(
            f"{name} is {value!r} of type {type(value).__name__}; expected None, bool, int, float, str, list or dict "
            "with text keys: put arrays into state.arrays and turn the rest into these."
        )
