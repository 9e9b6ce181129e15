"""The live line of a training: what it is at, how good it is, how fast it goes and how long it will take."""

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table


class Display:
    """A small table that is redrawn while rows of metrics come in; silent where nobody is watching."""

    def __init__(self, choice: Any, steps: int | None, optimum: Callable[[], float | None], quiet: bool):
        self._choice, self._steps = choice, steps
        self._console = Console()
        watched = not quiet and self._console.is_terminal
        self._live = Live(console=self._console, refresh_per_second=4) if watched else None
        # Theory takes a moment too: only where the number is shown.
        self._optimum = optimum() if watched and choice.solver == "population" else None
        self._began, self._first = time.monotonic(), None

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
        if self._live is not None and rows:
            self._live.update(self._table(rows[-1]))

    def _table(self, row: dict[str, Any]) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column()
        elapsed = time.monotonic() - self._began
        for name, text in self._lines(row, elapsed):
            table.add_row(name, text)
        return table

    def _lines(self, row: dict[str, Any], elapsed: float):
        if "level" in row:
            yield (
                "at",
                f"{row['level']}, {row['phase']}, step {row['step']}, {row['contexts']} contexts, {row['starts']} starts",
            )
        elif "start" in row:
            yield "at", f"start {row['start']}, {row['iterations']} iterations"
        else:
            yield "at", f"step {row['step']} of {self._steps}"
        loss = row.get("best", row["loss"])
        # The posterior objective is the risk less Bayes', the adjusted one the risk less the oracle's.
        what = {"posterior": "excess over Bayes", "adjusted": "excess over the oracle"}.get(
            self._choice.objective, "loss"
        )
        yield ("risk" if self._choice.solver == "population" else what), f"{loss:.6g}"
        if self._optimum is not None:
            yield "over the exact optimum", f"{loss - self._optimum:.3g} ({self._optimum:.6g})"
        if self._steps is not None and "step" in row and "level" not in row:
            if self._first is None:
                # The first chunk compiles: it says nothing about the rate.
                self._first = (row["step"], time.monotonic())
            steps, since = row["step"] - self._first[0], time.monotonic() - self._first[1]
            if steps > 0:
                rate = steps / since
                yield "rate", f"{rate:.0f} steps/s, {(self._steps - row['step']) / rate:.0f} s left"
        yield "elapsed", f"{elapsed:.0f} s"
