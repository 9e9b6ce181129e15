"""How many cores there are to use. Imports nothing heavy."""

import os


def cores() -> int:
    """How many cores this process may use; fewer than the machine has under `taskset` or in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
