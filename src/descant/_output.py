"""What a command is asked to write: never over what Descant did not write, unless the user says --force.

Names in a folder are noted there before anything is written under them, so that after an interruption they are known.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from ._disk import explained
from ._sealed import read_page, write_page

MANIFEST = ".written.json"
REMEDY = "delete it, and use --force once if the rest of the folder is Descant's"


def reserve(folder: Path, names: Iterable[str], *, force: bool = False) -> None:
    """Make a folder, and note files and folders that will be written into it.

    A `ValueError` if one of them is there already, and was never noted; an `OSError` if the folder can't be written to.
    """
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    known, names = written(folder), list(names)
    foreign = [name for name in names if name not in known and os.path.lexists(folder / name)]
    if foreign and not force:
        raise ValueError(
            f"out is {folder}, which holds {foreign[0]!r}, and Descant did not write that; choose another folder, or "
            "write over it with --force."
        )
    note(folder, [*known, *names])


def written(folder: Path) -> list[str]:
    """The names that are noted in a folder."""
    path = folder / MANIFEST
    try:
        names = read_page(path, REMEDY, {"names": list})["names"]
    except FileNotFoundError:
        return []
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{path} can't be read: its names are not all text; {REMEDY}.")
    return names


def note(folder: Path, names: Iterable[str]) -> None:
    """Note these names in a folder, and no others."""
    write_page(folder / MANIFEST, {"names": sorted(set(names))})


def new_file(path: Path, *, force: bool = False) -> None:
    """A `ValueError` if a file is there already, an `OSError` if none could be written there."""
    if path.is_dir() or (os.path.lexists(path) and not force):
        remedy = "choose another name" if path.is_dir() else "choose another name, or write over it with --force"
        raise ValueError(f"out is {path}, which is there already; {remedy}.")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
