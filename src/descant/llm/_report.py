"""Tables, verdicts and the picture of one model in one setting, as files; all made from the answers alone."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._disk import write_whole
from .._plain import page, plain
from ._figure import figure
from ._results import Results
from ._summary import Row, by_distance, by_shots, summary
from ._verdicts import Verdict, verdicts


@dataclass(frozen=True)
class Report:
    """What is printed and written."""

    model: str
    rows: list[Row]
    verdicts: list[Verdict]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return plain("report", asdict(self))


def write_report(results: Results, folder: Path, *, model: str) -> Report:
    """Write table.csv, distance.csv, shots.csv, verdicts.json and figure.png."""
    report = Report(model, summary(results), verdicts(results))
    write_whole(folder / "table.csv", as_csv(report.rows))
    write_whole(folder / "distance.csv", as_csv(by_distance(results)))
    write_whole(folder / "shots.csv", as_csv(by_shots(results)))
    write_whole(folder / "verdicts.json", page("verdicts", [asdict(each) for each in report.verdicts]))
    write_whole(folder / "figure.png", figure(results, model))
    return report


def as_csv(rows: Sequence[Any]) -> str:
    """Rows of a dataclass as CSV; an interval is three columns, NAME, NAME_low and NAME_high."""
    text = io.StringIO()
    if rows:
        flat = [_flat(asdict(row)) for row in rows]
        writer = csv.DictWriter(text, list(flat[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)
    return text.getvalue()


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= {name: value["value"], f"{name}_low": value["low"], f"{name}_high": value["high"]}
        else:
            found[name] = value
    return found
