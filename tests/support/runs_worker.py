"""A small training for the tests of runs, and processes that train it and are killed.

As a program: `python runs_worker.py FOLDER STEPS kills COUNT SEED` trains below FOLDER in processes that are killed
(SIGKILL) at random moments, COUNT times, and then in one that isn't. `... operations` kills at every single operation
on the disk, one process per operation. Processes are forked from one that has imported everything, which makes a kill
cheap.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from descant._disk import write_whole
from descant.attention import GDPlusPlusTransformer, to_bytes
from descant.runs import Store, _store, drive, environment
from descant.training import State

# Set where models are to be kept along the way.
SNAPSHOTS = "DESCANT_TEST_SNAPSHOTS"
CODE = "toy"  # not the package's source: it may be edited while tests run


class Toy:
    """A chaotic iteration: any lost bit, lost step or step done twice shows in the end."""

    def __init__(self, steps: int, size: int = 3, asarray: Callable[[Any], Any] = jnp.asarray):
        self.steps, self.size, self.asarray = steps, size, asarray

    def config(self) -> dict:
        return {"model": "toy", "steps": self.steps, "task": {"d": self.size, "n": 7}, "rate": 3.9}

    def init(self) -> State:
        return State({"x": np.linspace(0.2, 0.7, self.size), "sum": np.zeros(())}, {"step": 0, "last": None})

    def advance(self, state: State) -> tuple[State, list[dict]]:
        step = state.info["step"] + 1
        x = 3.9 * state.arrays["x"] * (1 - state.arrays["x"])
        total = state.arrays["sum"] + x.sum()
        rows = [{"step": step, "loss": float(x[0]), "sum": float(total)}]
        if step % 5 == 0:
            rows.append({"step": step, "event": f"five → {step}", "bad": float("nan")})
        return State({"x": x, "sum": total}, {"step": step, "last": float(x[-1])}), rows

    def finished(self, state: State) -> bool:
        return state.info["step"] >= self.steps

    def model(self, state: State) -> GDPlusPlusTransformer:
        x = self.asarray(state.arrays["x"])
        return GDPlusPlusTransformer(x, x / 2)

    def result(self, state: State) -> dict:
        return {"risk": float(state.arrays["sum"]), "standard_error": 0.0, "steps": state.info["step"]}


def complete(folder: Path, toy: Toy, every: float = 0.0) -> None:
    """Train to the end, from wherever it is."""
    run = Store(folder.parent, code=CODE).open(toy.config(), folder)
    if not run.finished:
        taken = (lambda now: to_bytes(toy.model(now))) if os.environ.get(SNAPSHOTS) else None
        state = drive(toy, run, every=every, snapshot=taken)
        run.finish(toy.model(state), toy.result(state))


def forked(work: Callable[[], None]) -> int:
    """Do something in a process of its own; ends with status 0, or 1 after a traceback."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def wait_for(child: int) -> int:
    """Its exit status, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def warmed_up(ready: int, folder: Path, toy: Toy) -> None:
    """Start JAX first, tell, and only then train: the kills should hit the training."""
    jnp.zeros(()).block_until_ready()
    os.write(ready, b".")
    complete(folder, toy)


def random_kills(folder: Path, toy: Toy, count: int, seed: int) -> list[int]:
    """Kill at random moments, in a new folder whenever a training reached its end, until `count` kills have hit."""
    # How long does it take? The moments are drawn from a part of that, so that most kills hit, also the last ones.
    duration = _timed(folder / "timed", toy)
    draw = random.Random(seed)
    statuses, ended = [], 0
    while statuses.count(-signal.SIGKILL) < count:
        statuses.append(_killed_after(folder / str(ended), toy, draw.uniform(0, 2 * duration / count)))
        ended += statuses[-1] == 0
        duration *= 0.7 if statuses[-1] == 0 else 1.0  # the disk was slow while it was timed
    assert wait_for(forked(lambda: complete(folder / str(ended), toy))) == 0
    return statuses


def _timed(folder: Path, toy: Toy) -> float:
    read, write = os.pipe()
    child = forked(lambda: warmed_up(write, folder, toy))
    os.read(read, 1)
    begin = time.monotonic()
    assert wait_for(child) == 0
    os.close(read)
    os.close(write)
    return time.monotonic() - begin


def _killed_after(folder: Path, toy: Toy, seconds: float) -> int:
    read, write = os.pipe()
    child = forked(lambda: warmed_up(write, folder, toy))
    os.read(read, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)  # a process that has ended waits for us as a zombie: the number is still its own
    os.close(read)
    os.close(write)
    return wait_for(child)


def killed_before_operation(folder: Path, toy: Toy, number: int) -> int:
    """Kill just before the operation of that number, among those that change what is on disk."""

    def work() -> None:
        done = 0

        def counted(real):
            def operation(*arguments, **options):
                nonlocal done
                done += 1
                if done == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **options)

            return operation

        for name in ("open", "replace", "unlink", "ftruncate", "fsync", "mkdir", "pwrite", "chmod"):
            setattr(os, name, counted(getattr(os, name)))
        complete(folder, toy)

    return wait_for(forked(work))


def operation_kills(folder: Path, toy: Toy) -> list[int]:
    """A run per operation: killed before it, killed once more while going on, then left in peace."""
    statuses = []
    for number in range(1, 1000):
        place = folder / f"{number:04d}"
        statuses.append(killed_before_operation(place, toy, number))
        killed_before_operation(place, toy, 1 + number // 2)
        assert wait_for(forked(lambda place=place: complete(place, toy))) == 0
        if statuses[-1] == 0:
            break
    return statuses


def environment_from_elsewhere(folder: Path) -> dict:
    """Asked in a process of its own: JAX doesn't like to be forked, so it must not start in this one."""
    path = folder.with_suffix(".environment")
    assert wait_for(forked(lambda: write_whole(path, json.dumps(environment())))) == 0
    return json.loads(path.read_text())


def main() -> None:
    folder, steps, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if what == "kills":
        toy = Toy(steps)
        statuses = random_kills(folder, toy, int(sys.argv[4]), int(sys.argv[5]))
    elif what == "operations":
        # Starting JAX takes most of the time of so short a life, and changes nothing on disk: do without it.
        known = environment_from_elsewhere(folder)
        _store.environment = lambda: known
        statuses = operation_kills(folder, Toy(steps, asarray=np.asarray))
    else:
        raise SystemExit(f"unknown: {what}")
    print(json.dumps(statuses))


if __name__ == "__main__":
    main()
