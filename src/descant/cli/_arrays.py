"""Arrays by name from a file that somebody else wrote: nothing is allocated that the file only claims to have."""

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from .. import _memory

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file; a `ValueError` if it is none, or damaged, or claims what it hasn't."""
    try:
        with zipfile.ZipFile(path) as file:
            names = [info.filename.removesuffix(".npy") for info in file.infolist()]
            if len(set(names)) < len(names):
                raise ValueError(f"it has {max(names, key=names.count)} twice")
            return {name: _array(file, info) for name, info in zip(names, file.infolist(), strict=True)}
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected arrays by name, as numpy.savez writes them.") from None
    except zipfile.BadZipFile as error:
        reason = "it is one array without a name; write it with numpy.savez" if _is_npy(path) else str(error)
        raise ValueError(f"{path} can't be read as arrays by name (.npz): {reason}.") from None
    # Whatever zipfile and the ways of packing that it knows raise at damaged files, encrypted ones, and others.
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{path} can't be read as arrays by name (.npz): {reason}.") from None


def _array(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, its header checked against what the file holds."""
    name = info.filename
    if info.comment:
        raise ValueError(f"{name} has a comment, which may once have been the next array")
    with file.open(info) as member:
        shape, fortran, dtype = _header(name, member)
        if dtype.hasobject:
            raise ValueError(f"{name} holds Python objects; expected numbers")
        if any(isinstance(size, bool) or size < 0 for size in shape):
            raise ValueError(f"{name} claims the shape {shape}")
        claimed = math.prod(shape) * dtype.itemsize
        _memory.need(name, 2 * claimed, "it", bytes_each=1)
        # Unpacked in pieces: what the directory of the file says of its size may be wrong, too.
        content = member.read(claimed)
        if len(content) != claimed or member.read(1):
            raise ValueError(f"{name} claims {claimed} bytes of numbers and has another number of them")
    array = np.frombuffer(content, dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _header(name: str, member: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    """What an array claims to be; it stands there as text."""
    version = npy.read_magic(member)
    if version not in HEADERS:
        raise ValueError(f"{name} is of version {version} of its format, which holds no plain numbers")
    try:
        return HEADERS[version](member)
    except Exception as error:  # of Python's parser too, which calls deep text a lack of memory, and others
        reason = f": {error}" if isinstance(error, ValueError) else ""
        raise ValueError(f"the header of {name} can't be read{reason}") from None


def _is_npy(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX
