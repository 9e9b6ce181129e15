"""Tables, verdicts and the picture of one model in one setting, as files; all made from the answers alone."""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._disk import write_whole
from .._names import slug
from .._plain import page, plain
from .._sealed import read_page, write_page
from ..figures.static import png
from ._experiment import Setting
from ._figure import figure
from ._lines import Lines
from ._pairs import Benchmark
from ._results import Asked, Results
from ._statistics import Interval
from ._study import Study
from ._summary import GuessRow, WordingRow, by_distance, by_shots, by_wording, summary
from ._templates import Template
from ._verdicts import Judged, verdicts

SETTING = "setting.json"


@dataclass(frozen=True)
class Report:
    """What is printed and written."""

    model: str
    rows: list[GuessRow]
    wordings: list[WordingRow]
    verdicts: list[Judged]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return plain("report", asdict(self))


def write_report(study: Study, folder: Path, *, model: str, data: str = "") -> Report:
    """Write tables, verdicts, figure.png and, last of all, setting.json."""
    report = Report(model, summary(study), by_wording(study), verdicts(study))
    write_whole(folder / "table.csv", as_csv(report.rows))
    write_whole(folder / "table.md", as_markdown(report))
    write_whole(folder / "wordings.csv", as_csv(report.wordings))
    write_whole(folder / "distance.csv", as_csv(by_distance(study)))
    write_whole(folder / "shots.csv", as_csv(by_shots(study)))
    write_whole(folder / "verdicts.json", page("verdicts", [asdict(each) for each in report.verdicts]))
    write_whole(folder / "figure.png", png(figure(study, model)))
    setting = {
        "name": model,
        "data": data,
        "chosen": study.chosen,
        "unaided": {name: asdict(each) for name, each in study.unaided.items()},
        "wordings": {
            name: {"unanswered": results.unanswered, "asked": asdict(results.asked)}
            for name, results in study.wordings.items()
        },
    }
    write_page(folder / SETTING, plain("setting", setting))
    return report


@dataclass(frozen=True)
class Found:
    """A study on disk: the model's name, that of the data, what was asked, and the file with the answers.

    `unanswered` has, by wording, how many answers were lacking.
    """

    name: str
    data: str
    asked: dict[str, Asked]
    chosen: str
    unaided: dict[str, Interval]
    answers: Path
    unanswered: dict[str, int]

    @property
    def first(self) -> Asked:
        """What was asked in one of the wordings."""
        return next(iter(self.asked.values()))

    def study(self) -> Study:
        """The study, from the answers as they are now; none of those that there were may be gone."""
        rows = Lines(self.answers).rows
        wordings = {name: Results.of(rows, asked) for name, asked in self.asked.items()}
        lost = sum(results.unanswered - self.unanswered[name] for name, results in wordings.items())
        if lost > 0:
            raise ValueError(
                f"{self.answers} lacks {lost} answers that it had; run the same `descant llm sts` again, and it asks "
                "for them."
            )
        return Study(wordings, self.chosen, self.unaided)


def default_root() -> Path:
    """Where `descant llm sts` keeps its results: the folder named by DESCANT_LLM, else `results/llm` below this one."""
    return Path(os.environ.get("DESCANT_LLM") or "results/llm")


def study_name(benchmark: Benchmark, setting: Setting, templates: Sequence[Template]) -> str:
    """A folder for a study: the data by name and digest, the wordings, and how they were asked."""
    names = slug(".".join(template.name for template in templates), most=80)
    return f"{benchmark.name}-{benchmark.digest[:6]}-{names}-{setting.design}"


def find_study(folder: Path) -> Found:
    """The study that a folder holds."""
    if not (folder / SETTING).is_file():
        raise ValueError(f"{folder} holds no {SETTING}; expected a folder that `descant llm sts` has written.")
    return _found(folder / SETTING)


def found(root: Path | None = None) -> list[Found]:
    """All studies below a folder; a `ValueError` that names the file if a setting is not as it was written."""
    return [_found(path) for path in sorted((default_root() if root is None else root).glob(f"*/*/{SETTING}"))]


def _found(path: Path) -> Found:
    remedy = "delete it, and the same `descant llm sts` writes it anew"
    raw = read_page(path, remedy)
    try:
        return Found(
            raw["name"],
            raw["data"],
            {name: Asked.from_json(each["asked"]) for name, each in raw["wordings"].items()},
            raw["chosen"],
            {name: Interval(**each) for name, each in raw["unaided"].items()},
            path.parent.parent / "answers.jsonl",
            {name: each["unanswered"] for name, each in raw["wordings"].items()},
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no setting: {error}; {remedy}.") from None


def as_markdown(report: Report) -> str:
    """The tables and the verdicts for a page."""
    names = (
        "MSE",
        "MAE",
        "Spearman",
        "guess alone: MSE",
        "guess alone: Spearman",
        "copied",
        "corrected",
        "displaced",
        "no score",
    )
    lines = ["| guess | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in report.rows:
        cells = (row.mse, row.mae, row.spearman, row.alone_mse, row.alone_spearman, row.copied, row.corrected)
        lost = f"{row.displaced} | {row.failed or '-'}"
        lines.append(f"| `{row.guess}` | {' | '.join(map(str, cells))} | {lost} |")
    names = ("no guess, other queries", "no guess", "`embedding`", "`shuffled`", "copied of `embedding`")
    lines += ["", "| wording: Spearman | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in report.wordings:
        cells = (row.choice, row.none, row.embedding, row.shuffled, row.copied)
        lines.append(f"| `{row.wording}`{' (chosen)' if row.chosen else ''} | {' | '.join(map(str, cells))} |")
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
