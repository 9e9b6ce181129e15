"""Files that are whole or absent. What can't be written is said in one sentence, and nothing saved before is lost."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into a sentence that names the path and says what to do."""
    try:
        yield
    except OSError as error:
        said = OSError(_sentence(path, error))
        said.errno = error.errno
        raise said from None


def _sentence(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in FULL:
        return (
            f"{path} can't be written: {reason}; what was saved before is whole: make room, then start the same "
            "command again and it goes on from there."
        )
    if error.errno in FORBIDDEN:
        return (
            f"{path} can't be written: {reason}; what was saved before is whole: allow writing there, or choose "
            "another folder."
        )
    if error.errno == errno.ELOOP:
        return f"{path} is a link, which is not written through; expected a file: put the file itself in its place."
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{path} can't be made: a part of that path is a file; expected folders only: choose another folder."
    return f"{path} can't be written: {reason}; mend that, then start the same command again."


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one; errors are explained."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes a file that only its owner may read; a result is for everybody.
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_at(path: Path, size: int, content: bytes) -> None:
    """Make a file end in `content` after its first `size` bytes, durably; whatever else was there is cut off.

    A crash leaves the first `size` bytes as they were, whatever follows them. If the disk is full, so does this.
    """
    with explained(path):
        # A link is not followed: what it points to, perhaps outside of the folder, is somebody else's.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            there = os.fstat(descriptor).st_size
            if there < size:
                raise ValueError(
                    f"{path} has {there} bytes and its checkpoint counts on {size}: it was changed from outside; "
                    "delete the run and start it again."
                )
            if there > size:
                os.ftruncate(descriptor, size)
            _write_all(descriptor, size, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, position: int, content: bytes) -> None:
    start, left = position, memoryview(content)
    try:
        while left:
            written = os.pwrite(descriptor, left, position)
            position, left = position + written, left[written:]
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, start)
        raise


def remove(path: Path) -> None:
    """Remove a file that may be gone already."""
    with explained(path):
        path.unlink(missing_ok=True)
