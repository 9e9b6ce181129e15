"""A training's state as one safetensors file: arrays by name, everything else as JSON in the metadata."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from .._trainer import State

FORMAT = "descant-checkpoint-1"


@dataclass(frozen=True)
class Mark:
    """How much of the metrics on disk belongs to a checkpoint. What follows was written by a process that died."""

    rows: int = 0
    size: int = 0


def to_bytes(state: State, mark: Mark) -> bytes:
    """The file's content."""
    _check_info("state.info", state.info)
    arrays = {name: np.array(array, order="C") for name, array in state.arrays.items()}
    # The names are kept in order: a training may sum over its arrays, and sums depend on the order.
    note = {"format": FORMAT, "names": list(arrays), "info": state.info, "rows": mark.rows, "bytes": mark.size}
    try:
        return safetensors.numpy.save(arrays, metadata={"descant": json.dumps(note)})
    except safetensors.SafetensorError as error:
        raise ValueError(f"state.arrays can't be saved: {error}.") from None


def load(path: Path) -> State:
    """The state in a file."""
    note, arrays = _read(path, with_arrays=True)
    return State({name: arrays[name] for name in note["names"]}, note["info"])


def mark_of(path: Path) -> Mark:
    """The mark in a file, without reading its arrays; nothing at all if there is no file."""
    try:
        note, _ = _read(path, with_arrays=False)
    except FileNotFoundError:
        return Mark()
    return Mark(note["rows"], note["bytes"])


def _read(path: Path, *, with_arrays: bool) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            note = json.loads((file.metadata() or {})["descant"])
            arrays = {name: file.get_tensor(name) for name in file.keys()} if with_arrays else {}  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} can't be read as a checkpoint: {error}; delete the run and start it again.") from None
    if not isinstance(note, dict) or note.get("format") != FORMAT:
        raise ValueError(f"{path} is not of the format {FORMAT!r}; delete the run and start it again.")
    return note, arrays


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
