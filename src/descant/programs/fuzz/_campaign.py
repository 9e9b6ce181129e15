"""Many programs, one after the other, and what became of them."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from ..._disk import write_whole
from ..._signals import remind
from ._contracting import contracting
from ._general import general
from ._judge import Verdict, judge
from ._shrink import SECONDS, shrunk
from ._written import Written

# What can become of a program, the two good ends first.
OUTCOMES = ("equal", "refused", "wrong", "traceback", "slow")
# What it is worth that outputs are equal, the most first; `Verdict` says when it is which.
WORTHS = ("sharp", "absolute", "vacuous")
# One program in so many contracts for many iterations; one in so many is run by JAX.
CONTRACTING, UNDER_JAX = 4, 50


@dataclass(frozen=True)
class Failure:
    """A program that the compiler got wrong: as it was written, and the smallest that ends the same way."""

    verdict: Verdict
    written: Written
    smallest: Written

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.verdict.outcome}-{self.written.kind}-{self.written.number}"


@dataclass
class Tally:
    """What became of all programs so far; `slowest` is the longest that a network took to compile, or to run."""

    programs: int = 0
    networks: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    worths: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    failures: list[Failure] = field(default_factory=list)

    @property
    def vacuous(self) -> float:
        """The share of comparisons that say nothing."""
        return self.worths["vacuous"] / max(1, sum(self.worths.values()))


def write(number: int, steps: int) -> Written:
    """The program of a number: one in four contracts, for up to `steps` iterations.

    >>> write(1, 10).text == write(1, 10).text
    True
    """
    return contracting(number, steps) if number % CONTRACTING == 0 else general(number)


def numbers(seed: int) -> Iterator[int]:
    """The numbers of a seed's programs; those of different seeds are different."""
    random = Random(seed)
    while True:
        yield random.getrandbits(40)


def fuzz(
    programs: int,
    seed: int,
    *,
    steps: int = 1000,
    seconds: float = SECONDS,
    told: Callable[[Tally, Failure | None], object] = lambda tally, failure: None,
    tally: Tally | None = None,
) -> Tally:
    """Write programs, compile them, and compare the networks with what the programs mean.

    **Arguments:** `programs` is how many, `seed` which ones; `steps` is how many iterations contracting loops have at
    the most. `seconds` may be spent on finding a smaller program that fails. `told` is called after each program, with
    its failure if it is one; `tally` is added to, so that it is known after an interruption.

    >>> fuzz(3, seed=0, steps=20).outcomes["wrong"]
    0
    """
    tally = Tally() if tally is None else tally
    for _, number in zip(range(programs), numbers(seed), strict=False):
        remind()
        written = write(number, steps)
        verdict = judge(written, under_jax=number % UNDER_JAX == 0)
        tally.slowest = max(tally.slowest, verdict.seconds)
        tally.programs += 1
        tally.networks += verdict.networks
        tally.outcomes[verdict.outcome] += 1
        tally.worths.update(each.worth for each in verdict.comparisons)
        if verdict.outcome == "refused":
            tally.reasons[verdict.sentence.partition(": ")[2] or verdict.sentence] += 1
        failure = _failure(verdict, written, seconds) if verdict.failed else None
        tally.failures += [failure] if failure else []
        told(tally, failure)
    return tally


def _failure(verdict: Verdict, written: Written, seconds: float) -> Failure:
    def outcome(candidate: Written) -> str:
        found = judge(candidate)
        # A traceback is the same one if it comes from the same place.
        return found.outcome + found.sentence.partition(":")[0] * (found.outcome == "traceback")

    slow = verdict.outcome == "slow"
    return Failure(verdict, written, written if slow else shrunk(written, outcome, seconds))


def files(failure: Failure) -> tuple[str, str, str]:
    """The names of a failure's files: the smallest program, what was written at first, and arrays to run both on."""
    return f"{failure.name}.py", f"{failure.name}.whole.py", f"{failure.name}.npz"


def keep(failure: Failure, folder: Path) -> None:
    """Write a failure to a folder, for `descant compile` and `descant run`."""
    import io  # noqa: PLC0415, for failures only

    small, whole, arrays = files(failure)
    write_whole(folder / small, _page(failure, failure.smallest, arrays))
    write_whole(folder / whole, _page(failure, failure.written, arrays))
    content = io.BytesIO()
    np.savez(content, **failure.smallest.inputs)  # type: ignore[arg-type]
    write_whole(folder / arrays, content.getvalue())


def _page(failure: Failure, written: Written, arrays: str) -> str:
    settings = " ".join(f"{name}={value}" for name, value in written.settings.items())
    return (
        f"# {failure.verdict.outcome}: {failure.verdict.sentence}\n"
        f"# Written by descant fuzz, {written.kind}, number {written.number}. Arrays to run it on: {arrays}.\n"
        f"# descant compile THIS --set {settings} --out compiled\n{written.text}"
    )
