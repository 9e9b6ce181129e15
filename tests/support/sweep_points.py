"""Questions for sweeps: quick ones, one that fails, one that kills its process, one that waits at a gate.

They note what they are asked in the file that SWEEP_LOG names, a line for each point: its number and the process.
"""

import os
import signal
import time
from pathlib import Path
from typing import Any


def _note(x: int) -> None:
    log = os.environ.get("SWEEP_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{x} {os.getpid()}\n")


def square(point: dict[str, Any]) -> dict[str, Any]:
    """The square of x."""
    _note(point["x"])
    return {"value": point["x"] ** 2, "standard_error": 0.0, "method": "exact", "parity": point["x"] % 2}


def no_thirteen(point: dict[str, Any]) -> float:
    """The square of x, unless it is 13."""
    if point["x"] == 13:
        raise ValueError("x is 13; expected a luckier number.")
    return square(point)["value"]


def deadly(point: dict[str, Any]) -> float:
    """The square of x; 13 kills whoever asks."""
    if point["x"] == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(point)["value"]


def gated(point: dict[str, Any]) -> float:
    """The square of x; 40 waits until the file that SWEEP_GATE names is there."""
    found = square(point)["value"]
    while point["x"] == 40 and not Path(os.environ["SWEEP_GATE"]).exists():
        time.sleep(0.02)
    return found
