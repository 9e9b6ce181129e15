"""JSON that notices when a bit of it is another: it holds a SHA-256 of the rest, which is checked when it is read."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._disk import write_whole
from ._plain import page, plain, restored

SEAL = "sha256"
CHANGED = "its checksum is not that of its content: it is damaged, or was changed, or is of an earlier version"
WORDS = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


def digest(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def canonical(value: Any) -> bytes:
    """One text for equal values that JSON holds, whatever the order of their fields."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def sealed(name: str, value: dict[str, Any], write: Callable[[str, Any], str] = page) -> str:
    """An object as JSON with its checksum, on a page for people too or on one line; `name` is for errors."""
    content = plain(name, value)
    return write(name, {**content, SEAL: digest(canonical(content))})


def write_page(path: Path, value: dict[str, Any]) -> None:
    """Write an object as JSON with its checksum, whole or not at all."""
    write_whole(path, sealed(path.stem, value))


def read_page(path: Path, remedy: str = "delete it", fields: Mapping[str, type] | None = None) -> dict[str, Any]:
    """The object in a file; a `ValueError` that names the file and a remedy if it is not as it was written.

    `fields` are those that are relied on, and their types: another version's file is whole too, and may lack them.
    """
    try:
        value = unsealed(path.read_bytes())
        check_fields(value, fields or {})
        return restored(value)
    except FileNotFoundError:
        raise
    except (ValueError, OSError, RecursionError) as error:
        raise ValueError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}; {remedy}.") from None


def check_fields(value: Any, fields: Mapping[str, type]) -> None:
    """A `ValueError` unless a value is an object that has these fields, each of its type."""
    for name, kind in fields.items():
        if not isinstance(value, dict) or type(value.get(name)) is not kind:
            raise ValueError(f"its field {name!r} is not there as {WORDS[kind]}: another version or program wrote it")


def unsealed(text: bytes) -> dict[str, Any]:
    """The object in a page or line, as JSON has it; a `ValueError` if it is not as it was written."""
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or value.pop(SEAL, None) != digest(canonical(value)):
            raise ValueError(CHANGED)
        return value
    except RecursionError:
        raise ValueError("it nests too deeply") from None
