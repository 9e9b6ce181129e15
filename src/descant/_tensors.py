"""Arrays by name and a note, in one safetensors file that holds a checksum of all of it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from ._sealed import CHANGED, SEAL, canonical

METADATA = "descant"


def to_bytes(arrays: Mapping[str, np.ndarray], note: dict[str, Any]) -> bytes:
    """The file's content; equal arrays and notes are equal bytes. The note is what JSON gives back as it was."""
    # One text: metadata of more than one entry would be in any order.
    text = json.dumps({**note, SEAL: _digest(arrays, note)}, separators=(",", ":"))
    return safetensors.numpy.save(dict(arrays), metadata={METADATA: text})


def read(path: Path, remedy: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and note; a `ValueError` that names the file and a remedy if they are not as they were written."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            note = json.loads((file.metadata() or {}).get(METADATA, "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if not isinstance(note, dict):
            raise ValueError("Descant did not write it")
        if note.pop(SEAL, None) != _digest(arrays, note):
            raise ValueError(CHANGED)
    except FileNotFoundError:
        raise
    except (ValueError, OSError, RecursionError, safetensors.SafetensorError) as error:
        raise ValueError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}; {remedy}.") from None
    return arrays, note


def _digest(arrays: Mapping[str, np.ndarray], note: dict[str, Any]) -> str:
    outline = {name: [array.dtype.str, array.shape] for name, array in arrays.items()}
    found = hashlib.sha256(canonical([note, outline]))
    # In the order of the names, because a file may have them in another.
    for name in sorted(arrays):
        found.update(arrays[name].tobytes())
    return found.hexdigest()
