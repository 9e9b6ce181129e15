"""Outcomes on disk, or wherever fsspec reaches: each by the address of its point, whole or absent, with a checksum.

    points/<digest>.jsonl      outcomes that came together, a sealed line each; never written again
    <sweep>/results.parquet    the table of a sweep

Whoever writes the same outcomes writes the same file, so that several sweeps may share a store.
"""

import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .._disk import write_whole
from .._plain import line, restored
from .._sealed import digest, sealed, unsealed
from ._outcome import Outcome

VARIABLE = "DESCANT_SWEEPS"
POINTS = "points"
REMEDY = "delete it, and the same command computes its points anew"


def default_root() -> str:
    """The place that the environment variable DESCANT_SWEEPS names, else the folder `sweeps` below the present one."""
    return os.environ.get(VARIABLE) or "sweeps"


class Store:
    """A folder, or an address that fsspec knows (`s3://bucket/sweeps`, `memory://sweeps`)."""

    def __init__(self, root: str | Path):
        self.root = str(root)
        try:
            self._files, path = fsspec.url_to_fs(self.root)
        except (ValueError, ImportError) as error:
            raise ValueError(
                f"out is {self.root!r}, which nothing here can write to: {error}; expected a folder, or an "
                "address that fsspec knows."
            ) from None
        self._path = str(path).rstrip("/")

    def place(self, name: str) -> str:
        """The whole path of a name in the store, as a user would write it."""
        return f"{self.root.rstrip('/')}/{name}"

    def find(self, addresses: Container[str]) -> dict[str, Outcome]:
        """The outcomes of these addresses that are kept; a `ValueError` names a file that is not as it was written."""
        found: dict[str, Outcome] = {}
        for path in self._kept():
            for each in self._lines(path):
                if each["address"] in addresses:
                    found[each["address"]] = Outcome.from_json(each["outcome"])
        return found

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Keep what came of some points, all or nothing."""
        rows = ({"address": address, "outcome": each.as_json()} for address, each in outcomes.items())
        content = "".join(f"{sealed('outcome', row, line)}\n" for row in rows).encode()
        if content:
            self.write(f"{POINTS}/{digest(content)[:24]}.jsonl", content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all: object stores do so by themselves."""
        if isinstance(self._files, LocalFileSystem):
            write_whole(Path(self._path, name), content)
        else:
            path = f"{self._path}/{name}"
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, content)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        try:
            return self._files.cat_file(f"{self._path}/{name}")
        except FileNotFoundError:
            return None

    def check(self) -> None:
        """An `OSError` if nothing can be written here: said before anything is computed."""
        if isinstance(self._files, LocalFileSystem):
            probe = Path(self._path, f".probe-{os.getpid()}")
            write_whole(probe, b"")
            probe.unlink()

    def _kept(self) -> list[str]:
        try:
            paths = self._files.ls(f"{self._path}/{POINTS}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(path) for path in paths if _is_kept(str(path)))

    def _lines(self, path: str) -> Iterable[dict]:
        try:
            content = self._files.cat_file(path)
            if not path.endswith(f"{digest(content)[:24]}.jsonl"):
                raise ValueError("its name is not that of its content: it is damaged, or was changed")
            return [restored(unsealed(each)) for each in content.splitlines()]
        except ValueError as error:
            raise ValueError(f"{path} can't be read: {error}; {REMEDY}.") from None


def _is_kept(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".jsonl") and not name.startswith(".")
