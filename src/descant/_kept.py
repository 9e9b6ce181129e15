"""Results on disk, found again by what was asked: whole or absent, and always as they are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _sealed


def digest(*asked: Any) -> str:
    """A name for what was asked (anything that JSON holds): other questions have other names."""
    return _sealed.digest(_sealed.canonical(asked))[:24]


def write(path: Path, value: Any) -> None:
    """Keep a value: numbers, NaN and infinities too, text, lists, dictionaries."""
    _sealed.write_page(path, {"value": value})


def read(path: Path) -> Any:
    """The value that is kept there."""
    return _sealed.read_page(path, "delete it, and the same command computes it anew")["value"]


def kept(path: Path, compute: Callable[[], Any]) -> Any:
    """The value that is kept there, computed and kept first if there is none."""
    if not path.exists():
        write(path, compute())
    return read(path)
