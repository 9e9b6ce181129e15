"""The folder of the report."""

from pathlib import Path

from .._disk import write_whole
from .._plain import page
from ..claims import Claim, Judgement


def write_report(folder: Path, claims: dict[str, Claim], judgements: dict[str, Judgement]) -> Path:
    """Write the pages and `verdicts.json`; the path of the front page."""
    verdicts = [
        {
            "id": id,
            "paper": claims[id].paper,
            "verdict": judgement.verdict,
            "seconds": round(judgement.seconds, 1),
        }
        for id, judgement in judgements.items()
    ]
    write_whole(folder / "verdicts.json", page("verdicts", verdicts))
    return folder / "index.html"
