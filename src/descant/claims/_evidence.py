"""What an experiment returns: checks, figures, tables, and words."""

from dataclasses import dataclass
from typing import Any

from .._checks import CONTROL, Check, Verdict, verdict_of
from ..figures import Figure

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Numbers in rows.

    A column named "±" has the standard errors of the column before it; None there is a number without one.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def __post_init__(self):
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name!r} has a row of {len(row)} cells; expected {len(self.columns)}.")


@dataclass(frozen=True)
class Evidence:
    """The checks decide; figures, tables and `words` (paragraphs; Markdown with `$mathematics$`) explain.

    `headline` is the name of the check whose numbers stand for the claim where it holds, the first unless it is given.
    `long_runs` are the notes of the long runs (`LongRun.note`) that numbers were taken from.
    """

    checks: tuple[Check, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    words: tuple[str, ...] = ()
    headline: str = ""
    long_runs: tuple[dict[str, Any], ...] = ()

    def __post_init__(self):
        if not self.checks:
            raise ValueError("evidence has no checks; expected at least one, because checks decide.")
        if self.headline and self.headline not in {check.name for check in self.checks}:
            raise ValueError(f"headline is {self.headline!r}; expected the name of a check.")

    @property
    def verdict(self) -> Verdict:
        """One refuting check refutes the claim; one undecided check, or failed control, leaves it open."""
        return verdict_of(self.checks)

    @property
    def decisive(self) -> Check:
        """The check that decided; of several, the headline if it is one of them, else the first."""
        match self.verdict:
            case "holds":
                deciding = self.checks
            case "does-not-hold":
                deciding = [check for check in self.checks if check.outcome == "refutes"]
            case "undecided":
                failed = [check for check in self.checks if check.against == CONTROL and check.outcome != "passes"]
                deciding = failed or [check for check in self.checks if check.outcome == "undecided"]
        return next((check for check in deciding if check.name == self.headline), deciding[0])
