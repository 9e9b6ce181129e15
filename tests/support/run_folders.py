"""What the tests of runs do with a run's folder."""

import contextlib
import subprocess
import sys
from pathlib import Path

from descant.runs import Run, Store, drive
from tests.support.runs_worker import CODE, Toy, complete

OUTCOME = ("config.json", "metrics.parquet", "model.safetensors", "result.json")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def finished(folder: Path, toy: Toy) -> dict[str, bytes]:
    """What an undisturbed run leaves: these files and no others."""
    complete(folder, toy, every=1e9)
    found = contents(folder)
    assert sorted(found) == sorted(OUTCOME)
    return found


def opened(folder: Path, toy: Toy) -> Run:
    return Store(folder.parent, code=CODE).open(toy.config(), folder)


def risk_of(folder: Path) -> float:
    result = Run(folder).result
    assert result is not None
    return result["risk"]


def under_way(folder: Path, toy: Toy, step: int) -> Run:
    run = opened(folder, toy)
    drive(
        toy, run, stop=lambda: False if run.checkpoint() is None else run.checkpoint().info["step"] >= step, every=0.0
    )
    return run


HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print(".", flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def another_process_on(folder: Path):
    with subprocess.Popen([sys.executable, "-c", HOLD, folder / ".lock"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(1)
        yield
        process.kill()
