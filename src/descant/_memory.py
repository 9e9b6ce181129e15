"""What something would take of memory, against what this machine has; asked before it is allocated.

XLA doesn't raise an error where memory is short: it aborts the process, or the system kills it.
"""

import os
from pathlib import Path

from ._unknown import Unknown

# What takes less than this is not worth a look at the machine.
SMALL = 2**27
# Limits of a container and what it has taken of them, in the two versions of Linux's control groups.
CONTAINER = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def free() -> int:
    """Bytes that this process can still have: what the machine has free, or less if its container has less."""
    known = [_machine()]
    for limit, taken in CONTAINER:
        try:
            known.append(int(limit.read_text()) - int(taken.read_text()))
        except (OSError, ValueError):
            continue  # no such container, or one without a limit ("max")
    return max(min(known), 0)


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2**63


def need(what: str, numbers: int, reduce: str, *, bytes_each: int = 8) -> None:
    """Raise `Unknown` if so many numbers don't fit; whoever knows a way that takes less can go it.

    **Arguments:** `what` begins the sentence; `reduce` says what the user should make smaller.
    """
    wanted = numbers * bytes_each
    if wanted <= SMALL:
        return
    there = free()
    if wanted > there:
        raise Unknown(f"{what} would take {_words(wanted)} of memory, and {_words(there)} are free; reduce {reduce}")


def _words(count: float) -> str:
    for unit in UNITS[:-1]:
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} {UNITS[-1]}"
