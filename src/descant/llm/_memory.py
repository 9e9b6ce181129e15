"""What a model takes in memory, said before it is loaded: from the headers of its files alone."""

import json
import math
import os
from pathlib import Path

# Of a header that is larger, nothing is read.
LARGEST_HEADER = 100 << 20
BYTES = {"float32": 4, "bfloat16": 2}


def parameters(folder: Path) -> int:
    """How many numbers the weights of a folder are."""
    return sum(_numbers(path) for path in sorted(folder.glob("*.safetensors")))


def sentence(name: str, folder: Path, dtype: str, on_cpu: bool) -> str:
    """What will be taken, and, on a CPU, that it is not there if so."""
    count = parameters(folder)
    needed = count * BYTES.get(dtype, 4)
    said = f"{name}: {count / 1e6:,.0f} million parameters, {needed / 1e9:.1f} GB of memory as {dtype}"
    free = available()
    if on_cpu and free is not None and needed > free:
        return f"{said}; only {free / 1e9:.1f} GB are free: it may be slow, or stopped by the system"
    return said


def available() -> int | None:
    """Bytes of memory that are free, where the system says so."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _numbers(path: Path) -> int:
    """From the header of a safetensors file: eight bytes with its length, then JSON."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LARGEST_HEADER:
            return 0
        try:
            header = json.loads(file.read(length))
            return sum(math.prod(each["shape"]) for name, each in header.items() if name != "__metadata__")
        except (ValueError, KeyError, TypeError, AttributeError):
            return 0  # whoever loads it says what is wrong
