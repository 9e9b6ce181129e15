"""Claims that go wrong in every way, for the tests of the runner; found through the variable DESCANT_CLAIMS."""

import os
import signal
import time
from pathlib import Path

from descant.claims import Evidence, Lab, claim, equal

PARTS = 12
PART_S = 0.05


def note(words: str) -> None:
    """Say on disk that something was computed; lines of several processes don't mix."""
    with Path(os.environ["FAKE_LOG"]).open("a") as file:
        file.write(f"{words} {os.getpid()}\n")


def fake(id: str, seconds: float = 1.0):
    return claim(
        id,
        paper="elsa",
        where="nowhere",
        title=f"Invented: {id}",
        statement="An invented statement.",
        refuted_by="Nothing.",
        method="None.",
        quick="all",
        full="all",
        seconds=seconds,
    )


def evidence() -> Evidence:
    return Evidence((equal("one", 1.0, 1.0, tolerance=0.0, reason="Counted."),))


def in_parts(id: str, lab: Lab) -> Evidence:
    def compute(index: int) -> int:
        time.sleep(PART_S)
        note(f"{id} {index}")
        return index

    for index in range(PARTS):
        lab.tell(f"part {index}", index / PARTS)
        assert lab.keep(f"part-{index}", lambda index=index: compute(index)) == index
    note(f"{id} done")
    return evidence()


@fake("fake-left")
def left(lab: Lab) -> Evidence:
    return in_parts("fake-left", lab)


@fake("fake-right")
def right(lab: Lab) -> Evidence:
    return in_parts("fake-right", lab)


@fake("fake-fine", 0.1)
def fine(lab: Lab) -> Evidence:
    note("fake-fine")
    return evidence()


@fake("fake-raises", 5)
def raises(lab: Lab) -> Evidence:
    note("fake-raises")
    raise ValueError("n is 0; expected more.")


@fake("fake-exits", 4)
def exits(lab: Lab) -> Evidence:
    note("fake-exits")
    os._exit(3)


@fake("fake-killed", 3)
def killed(lab: Lab) -> Evidence:
    note("fake-killed")
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")
