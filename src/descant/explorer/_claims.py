"""The room Claims: what was judged in the folder of the report, and one claim judged again while one watches."""

import json
import queue
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..claims import PAPERS, titles
from ..figures import bare, drawing
from ._fields import Fields
from ._python import written

# Figures of a claim that are shown at once; the others are in its report.
MOST_FIGURES = 6
VERDICTS = "verdicts.json"
UNJUDGED = "not-run"
STANDINGS = ("holds", "does-not-hold", "not-as-read", "not-in-ours", "undecided", "failed", UNJUDGED)


def listing(report: Path) -> dict[str, Any]:
    """All claims by paper, with the verdicts that the folder of a report has."""
    found = titles()
    judged = _verdicts(report)
    papers: dict[str, dict[str, Any]] = {}
    for id, title in found.items():
        paper = PAPERS[title.paper]
        entry = papers.setdefault(title.paper, {"name": paper.short, "source": paper.source, "claims": []})
        standing = judged.get(id, {}).get("standing", UNJUDGED)
        # A report of another version may have a word that this one doesn't know.
        standing = standing if standing in STANDINGS else UNJUDGED
        page = f"report/claims/{id}.html" if id in judged else None
        entry["claims"].append(
            {"id": id, "title": title.title, "plain": bare(title.title), "standing": standing, "page": page}
        )
    return {"papers": [*papers.values()], "judged": len(judged), "report": (report / "index.html").is_file()}


def _verdicts(report: Path) -> dict[str, dict[str, Any]]:
    """The verdicts by id; none if there is no report, or if it can't be read."""
    try:
        raw = json.loads((report / VERDICTS).read_text(encoding="utf-8"))
        rows = raw["verdicts"] if isinstance(raw, dict) else raw
        return {row["id"]: row for row in rows if isinstance(row["standing"], str)}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def judged(asked: Any) -> Iterator[dict[str, Any]]:
    """Run the experiment of a claim in a fresh folder; what it tells on the way, and its checks and figures."""
    from ..claims import Judgement, find, judge

    fields = Fields(asked, "the question")
    id, folder = fields.text("id", 100), Path(fields.text("folder", 4096))
    fields.done()
    if id not in titles():
        raise ValueError(f"id is {id!r}, which is no claim; the list has them all.")
    yield {"event": "progress", "words": "loading the experiment", "share": None}
    claim = find([id])[id]
    yield {"event": "begun", "statement": claim.statement, "budget": claim.budgets["quick"], "seconds": claim.seconds}
    news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def work() -> None:
        try:
            told = judge(claim, folder, tell=lambda words, share: news.put(("told", (words, share))))
            news.put(("end", told))
        except BaseException as error:
            news.put(("error", error))

    threading.Thread(target=work, daemon=True).start()
    while True:
        kind, what = news.get()
        if kind == "error":
            raise what
        if kind == "end":
            result: Judgement = what
            break
        yield {"event": "progress", "words": what[0], "share": what[1]}
    evidence = result.evidence
    standing = "failed" if evidence is None else claim.standing(result.verdict)
    checks = [{**asdict(check), "outcome": check.outcome} for check in (evidence.checks if evidence else ())]
    figures = [
        {**drawing(figure), "python": written(_python(id), f"judgement.evidence.figures[{index}]", figure.name)}
        for index, figure in enumerate((evidence.figures if evidence else ())[:MOST_FIGURES])
    ]
    yield {
        "event": "judged",
        "standing": standing,
        "seconds": result.seconds,
        "checks": checks,
        "figures": figures,
        "words": list(evidence.words) if evidence else [],
        "failure": result.failure.strip().splitlines()[-1] if result.failure else "",
    }


def _python(id: str) -> str:
    return f"""import tempfile
from pathlib import Path
from descant.claims import find, judge

claim = find(["{id}"])["{id}"]
judgement = judge(claim, Path(tempfile.mkdtemp()))  # in a fresh folder: where it was judged before, that is found
print(judgement.verdict)
"""
