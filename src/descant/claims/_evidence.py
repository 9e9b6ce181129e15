"""What an experiment returns: checks, figures, tables, and words."""

from dataclasses import dataclass

from .._checks import Check, Verdict, verdict_of
from ..figures import Figure

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Numbers in rows.

    A column named "±" has the standard errors of the column before it; None there is an exact number.
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
    """The checks decide; figures, tables and `words` (paragraphs; Markdown with $mathematics$) explain."""

    checks: tuple[Check, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    words: tuple[str, ...] = ()

    def __post_init__(self):
        if not self.checks:
            raise ValueError("evidence has no checks; expected at least one, because checks decide.")

    @property
    def verdict(self) -> Verdict:
        """One refuting check refutes the claim; one undecided check leaves it open."""
        return verdict_of(self.checks)
