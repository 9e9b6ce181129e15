"""One process at a time may write into a folder. The kernel drops the lock when a process dies, however it dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._disk import explained

NAME = ".lock"
# Someone who only looks whether a run is busy holds the lock for a moment: try again for this long before giving up.
PATIENCE_S = 0.3
PAUSE_S = 0.02


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; `BlockingIOError` if another process does."""
    path = folder / NAME
    with explained(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        _take(descriptor, folder)
        try:
            yield
        finally:
            # Not by closing alone: a child process that was forked meanwhile has a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a living process is working in the folder."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not _try(descriptor, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise BlockingIOError(f"another process is working in {folder}: wait until it is done, or stop it.")
        time.sleep(PAUSE_S)
    # The folder may have been deleted while we waited; the lock is then one on nothing.
    with explained(folder):
        same = os.path.samestat(os.fstat(descriptor), os.stat(folder / NAME))
    if not same:
        raise BlockingIOError(f"{folder} was replaced by another process a moment ago; start again.")


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
