"""Tables, verdicts and the picture of one model in one setting, as files; all made from the answers alone."""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._disk import write_whole
from .._plain import page, plain
from .._sealed import read_page, write_page
from ..figures.static import png
from ._figure import figure
from ._lines import Lines
from ._results import Asked, Results
from ._summary import GuessRow, by_distance, by_shots, summary
from ._verdicts import Judged, verdicts

SETTING = "setting.json"


@dataclass(frozen=True)
class Report:
    """What is printed and written."""

    model: str
    rows: list[GuessRow]
    verdicts: list[Judged]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return plain("report", asdict(self))


def write_report(results: Results, folder: Path, *, model: str) -> Report:
    """Write table.csv, table.md, distance.csv, shots.csv, verdicts.json, figure.png and, last of all, setting.json."""
    report = Report(model, summary(results), verdicts(results))
    write_whole(folder / "table.csv", as_csv(report.rows))
    write_whole(folder / "table.md", as_markdown(report))
    write_whole(folder / "distance.csv", as_csv(by_distance(results)))
    write_whole(folder / "shots.csv", as_csv(by_shots(results)))
    write_whole(folder / "verdicts.json", page("verdicts", [asdict(each) for each in report.verdicts]))
    write_whole(folder / "figure.png", png(figure(results, model)))
    write_page(folder / SETTING, {"name": model, "unanswered": results.unanswered, "asked": asdict(results.asked)})
    return report


@dataclass(frozen=True)
class Found:
    """Results on disk: the model's name, what was asked, the file with the answers, and how many it lacked."""

    name: str
    asked: Asked
    answers: Path
    unanswered: int

    def results(self) -> Results:
        """The results, from the answers as they are now; none of those that there were may be gone."""
        results = Results.of(Lines(self.answers).rows, self.asked)
        if results.unanswered > self.unanswered:
            raise ValueError(
                f"{self.answers} lacks {results.unanswered - self.unanswered} answers that it had; run the same "
                "`descant llm sts` again, and it asks for them."
            )
        return results


def default_root() -> Path:
    """Where `descant llm sts` keeps its results: the folder named by DESCANT_LLM, else `results/llm` below this one."""
    return Path(os.environ.get("DESCANT_LLM") or "results/llm")


def found(root: Path | None = None) -> list[Found]:
    """All results below a folder; a `ValueError` that names the file if a setting is not as it was written."""
    items = []
    for path in sorted((default_root() if root is None else root).glob(f"*/*/{SETTING}")):
        remedy = "delete it, and the same `descant llm sts` writes it anew"
        raw = read_page(path, remedy)
        try:
            asked = raw["asked"]
            asked = Asked(**{**asked, "guesses": tuple(asked["guesses"]), "queries": tuple(asked["queries"])})
            items.append(Found(raw["name"], asked, path.parent.parent / "answers.jsonl", raw["unanswered"]))
        except (LookupError, TypeError) as error:
            raise ValueError(f"{path} is no setting: {error}; {remedy}.") from None
    return items


def as_markdown(report: Report) -> str:
    """The table and the verdicts for a page."""
    names = (
        "MSE",
        "Spearman",
        "Pearson",
        "guess alone: MSE",
        "guess alone: Spearman",
        "copied",
        "corrected",
        "no score",
    )
    lines = ["| guess | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in report.rows:
        cells = (row.mse, row.spearman, row.pearson, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        lines.append(f"| `{row.guess}` | {' | '.join(map(str, cells))} | {row.failed or '-'} |")
    lines += ["", *(f"- ({each.claim}) **{each.verdict}**: {each.statement} {each.reason}" for each in report.verdicts)]
    return "\n".join(lines) + "\n"


def as_csv(rows: Sequence[Any]) -> str:
    """Rows of a dataclass as CSV; an interval is four columns, NAME, NAME_low, NAME_high and NAME_error."""
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
            found[name] = value["value"]
            found |= {f"{name}_{part}": value[part] for part in ("low", "high", "error")}
        else:
            found[name] = value
    return found
