"""Tables, verdict and picture of linear regression in text, as files; all made from the answers alone."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._disk import write_whole
from .._plain import page, plain
from ..figures.static import png
from ._learners import LEARNERS
from ._regression import TextResults
from ._report import as_csv
from ._share_figure import share_figure
from ._shares import ShareRow, ShareVerdict, share_rows, share_verdict
from ._statistics import Interval


@dataclass(frozen=True)
class ShareReport:
    """What is printed and written."""

    model: str
    rows: list[ShareRow]
    verdict: ShareVerdict

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return plain("report", asdict(self))


@dataclass(frozen=True)
class _Flat:
    n: int
    share: Interval
    label: Interval
    yq_lsa_exact: float
    descent: Interval
    bayes: Interval
    less_yq_lsa: Interval
    error: Interval
    guess_alone: Interval
    without_guess: Interval
    spearman_without_guess: Interval


def write_share_report(results: TextResults, folder: Path, *, model: str) -> ShareReport:
    """Write shares.csv, verdict.json and figure.png."""
    report = ShareReport(model, share_rows(results), share_verdict(results))
    flat = [
        _Flat(
            row.n,
            row.share,
            row.label,
            row.exact,
            row.learners[LEARNERS[1]],
            row.learners[LEARNERS[2]],
            row.apart,
            row.error,
            row.alone,
            row.without,
            row.known,
        )
        for row in report.rows
    ]
    write_whole(folder / "shares.csv", as_csv(flat))
    write_whole(folder / "verdict.json", page("verdict", asdict(report.verdict)))
    write_whole(folder / "figure.png", png(share_figure(results, model)))
    return report
