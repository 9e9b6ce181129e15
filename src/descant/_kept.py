"""Results on disk, found again by what was asked: whole or absent, and always as they are read."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._disk import write_whole
from ._plain import page, restored


def digest(*asked: Any) -> str:
    """A name for what was asked (anything that JSON holds): other questions have other names."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]


def write(path: Path, value: Any) -> None:
    """Keep a value: numbers, NaN and infinities too, text, lists, dictionaries."""
    write_whole(path, page(path.stem, value))


def read(path: Path) -> Any:
    """The value that is kept there."""
    return restored(json.loads(path.read_text()))


def kept(path: Path, compute: Callable[[], Any]) -> Any:
    """The value that is kept there, computed and kept first if there is none."""
    if not path.exists():
        write(path, compute())
    return read(path)
