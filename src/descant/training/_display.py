"""The live line of a training: what it is at, how good it is, how fast it goes and how long it will take."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from .._unknown import Unknown
from ..measure import best, risk
from ..tasks import AbstractTask

# Contexts that tell what Bayes and the oracle cost, where that is not known exactly.
SAMPLES = 16_384


@dataclass(frozen=True)
class References:
    """Risks to compare with, where they are known; the optimum is the exact one of the class."""

    bayes: float | None
    oracle: float | None
    optimum: float | None

    @classmethod
    def of(cls, task: AbstractTask, optimum: float | None = None) -> "References":
        """Those of a task."""
        return cls(_known("bayes", task), _known("ridge", task), optimum)


def _known(name: str, task: AbstractTask) -> float | None:
    try:
        return risk(best(name, task), task, samples=SAMPLES).value
    except Unknown:
        return None


class Display:
    """A small table that is redrawn while rows of metrics come in; silent where nobody is watching.

    **Arguments:** `objective` is what the loss of the rows is of; `references` are asked for only if they are shown.
    """

    def __init__(self, objective: str, references: Callable[[], References], quiet: bool = False):
        self._objective = objective
        self._live = None if quiet else _live()
        # They take a moment too: only where they are shown.
        self._references = None if self._live is None else references()
        self._began = time.monotonic()
        self._first: tuple[float, float] | None = None
        self._rows = 0

    def __enter__(self) -> "Display":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the last picture on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, rows: list[dict[str, Any]]) -> None:
        """Draw the last row."""
        if self._live is not None and self._references is not None and rows:
            self._live.update(self._table(rows[-1], self._references))

    def _table(self, row: dict[str, Any], references: References) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column()
        for name, text in [
            ("at", where(row)),
            *losses(row, self._objective, references),
            *self._speed(row, time.monotonic()),
        ]:
            table.add_row(name, text)
        return table

    def _speed(self, row: dict[str, Any], now: float) -> Iterator[tuple[str, str]]:
        done = row["progress"]
        if self._first is None:
            # What comes first compiles: it says nothing about the rate.
            self._first, self._rows = (done, now), row.get("step", 0) if "level" not in row else 0
        elif done > self._first[0]:
            since = now - self._first[1]
            left = since * (1 - done) / (done - self._first[0])
            if "level" in row or "start" in row:
                self._rows += 1
                rate = f"{self._rows / since:.2g} {'steps' if 'level' in row else 'starts'}/s"
            else:
                rate = f"{(row.get('step', 0) - self._rows) / since:.0f} steps/s"
            yield "rate", f"{rate}, about {left:.0f} s left"
        yield "elapsed", f"{now - self._began:.0f} s"


def _live() -> Live | None:
    console = Console()
    return Live(console=console, refresh_per_second=4) if console.is_terminal or console.is_jupyter else None


def where(row: dict[str, Any]) -> str:
    """What a training is at."""
    if "level" in row:
        return f"{row['level']}, {row['phase']}, step {row['step']}, {row['contexts']} contexts, {row['starts']} starts"
    if "start" in row:
        return f"start {row['start']}, {row['iterations']} iterations"
    return f"step {row['step']}" if "step" in row else f"{row['progress']:.0%}"


def losses(row: dict[str, Any], objective: str, references: References) -> Iterator[tuple[str, str]]:
    """The loss, and what it means: the risk over that of Bayes, and over the least that the class can have."""
    loss = row.get("best", row["loss"])
    yield "loss", f"{loss:.6g} ({objective})"
    # The posterior objective is the risk less Bayes', the adjusted one the risk less the oracle's.
    less = {"posterior": references.bayes, "adjusted": references.oracle}.get(objective, 0.0)
    if less is None:
        return
    if references.bayes is not None:
        yield "over Bayes", f"{loss + less - references.bayes:.4g}"
    if references.optimum is not None:
        yield "over the exact optimum", f"{loss + less - references.optimum:.3g} ({references.optimum:.6g})"
