"""A file of JSON lines that only grows. What is in it survives a crash; a line that a crash cut off is dropped."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._disk import explained, write_at
from .._plain import line
from .._sealed import sealed, unsealed


class Lines:
    """The rows of a file, in memory too. One process writes at a time: hold the folder's lock."""

    def __init__(self, path: Path):
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self._size = 0
        self._mutex = threading.Lock()
        self._read()

    def append(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep rows, durably, before this returns."""
        rows = list(rows)
        content = "".join(sealed("row", row, line) + "\n" for row in rows).encode()
        with self._mutex:
            with explained(self.path.parent):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            write_at(self.path, self._size, content)
            self._size += len(content)
            self.rows += rows

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        for number, text in enumerate(whole.split(b"\n")[:-1], 1):
            try:
                self.rows.append(unsealed(text))
            except ValueError as error:
                raise ValueError(
                    f"{self.path}, line {number}, can't be read: {error}; mend or delete that line."
                ) from None
        self._size = len(whole)
