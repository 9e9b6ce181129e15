"""What commands print: one head for every JSON, and one way to say a risk."""

from typing import TYPE_CHECKING, Any

from .. import __version__
from .._plain import line

if TYPE_CHECKING:
    from rich.table import Table

    from ..measure import Risk


def print_json(command: str, body: dict[str, Any], *, seed: int | None = None, samples: int | None = None) -> None:
    """One JSON object on one line. Its head is the same everywhere; seed and samples are null where nothing is drawn.

    **Arguments:** `body` is what the command found.
    """
    print(line("result", {"command": command, "version": __version__, "seed": seed, "samples": samples, **body}))


def risk_fields(found: "Risk") -> dict[str, Any]:
    """A risk as JSON has it; what is known of it, and how."""
    return {
        "risk": found.value,
        "standard_error": found.standard_error,
        "method": found.method,
        "adjusted": found.adjusted,
        "adjusted_standard_error": found.adjusted_error,
        "note": found.note,
    }


def number(value: float | None) -> str:
    """A number to six digits; nothing is said of one that isn't known."""
    return "-" if value is None else f"{value:.6g}"


def error(value: float | None, method: str) -> str:
    """A standard error; exact is said of closed forms only, not of samples that happen to be alike."""
    if value is None:
        return "-"
    return "exact" if method == "exact" and value == 0 else f"{value:.2g}"


def risk_table(title: str, first: str) -> "Table":
    """The table of risks of `descant risk` and `descant eval`."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "risk: E (prediction - ⟨w, x⟩)²; adjusted: less the oracle's; ±: standard error"
    table.add_column(first)
    for column in ("risk", "±", "adjusted", "±"):
        table.add_column(column, justify="right")
    table.add_column("method")
    return table


def add_risk(table: "Table", name: str, row: dict[str, Any], **style: Any) -> None:
    """A row of that table, from the fields of a risk."""
    cells = (
        number(row["risk"]),
        error(row["standard_error"], row["method"]),
        number(row["adjusted"]),
        error(row["adjusted_standard_error"], row["method"]),
        row["method"],
    )
    table.add_row(name, *cells, **style)


def in_words(value: float | None, standard_error: float | None, method: str | None) -> str:
    """A number in a sentence, with its standard error or the word exact."""
    if value is None or method is None:
        return "unknown"
    said = error(standard_error, method)
    return f"{number(value)} {said}" if said == "exact" else f"{number(value)} ± {said}"
