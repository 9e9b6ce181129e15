"""The pages: what the templates are given, and the text they make of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .._names import slug
from ..claims import BUDGETS, PAPERS, SEEN, Check, Claim, Judgement, Paper, Table
from ..figures import Figure, bare, drawing
from ._tables import figure_rows
from ._words import duration, line, measured, number, paragraphs

# How a claim stands: what it is called, and the sign that goes with it.
STANDINGS = {
    "holds": ("holds", "✓"),
    "does-not-hold": ("does not hold", "✗"),
    "not-as-read": ("not as transcribed", "≠"),
    "not-in-ours": ("not in our networks", "∌"),
    "undecided": ("undecided", "?"),
    "failed": ("experiment failed", "!"),
    "not-run": ("not run", "–"),
}
OUTCOMES = {"passes": "holds", "refutes": "does-not-hold", "undecided": "undecided"}
OUTCOME_WORDS = {"passes": "passes", "refutes": "refutes", "undecided": "undecided"}
# Whose a statement is that no paper makes.
ORIGINS = {
    "derived": "Ours: it follows from what the paper states, which does not say it.",
    "extension": "Ours: it goes beyond what the paper states.",
    "control": "Ours: a control, which looks at the conditions of what the paper states.",
}
RELATIONS = {
    "=": "equals",
    "≈": "agrees with",
    "≤": "is at most",
    "≥": "is at least",
    "is": "is",
}
# A figure with more points than this has them in its CSV only.
MOST_ROWS = 400
SOURCE = "src/descant"
WORDS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight", 9: "Nine"}


@dataclass(frozen=True)
class Entry:
    """A claim beside what came of it, if it was judged."""

    claim: Claim
    judgement: Judgement | None

    @property
    def paper(self) -> Paper:
        """The paper that makes the claim."""
        return PAPERS[self.claim.paper]

    @property
    def href(self) -> str:
        """Its page, from the front page."""
        return f"claims/{self.claim.id}.html"

    @property
    def standing(self) -> str:
        """Its verdict, or why it has none."""
        if self.judgement is None:
            return "not-run"
        if self.judgement.evidence is None:
            return "failed"
        return self.claim.standing(self.judgement.verdict)

    @property
    def ours(self) -> bool:
        """Whether no paper makes this statement."""
        return self.claim.whose != "paper"

    @property
    def origin(self) -> str:
        """Whose statement it is, and where its words were seen."""
        if self.ours:
            own = "Ours: no paper makes this statement."
            return own if self.paper.own else ORIGINS[self.claim.whose]
        seen = SEEN.get(self.claim.seen)
        judged = " It saw this in networks that it trained; judged here on ours." if self.claim.observed else ""
        return "The paper’s" + (f"; its words were seen {seen}." if seen else ".") + judged

    @property
    def tags(self) -> list[str]:
        """What has to be known beside the verdict."""
        long = self.judgement and self.judgement.evidence and self.judgement.evidence.long_runs
        own = [self.claim.whose] if self.ours and not self.paper.own else []
        return [*own, *(["identity"] if self.claim.identity else []), *(["from a long run"] if long else [])]

    @property
    def checks(self) -> tuple[Check, ...]:
        """All of its checks."""
        evidence = self.judgement.evidence if self.judgement else None
        return evidence.checks if evidence else ()

    @property
    def figures(self) -> dict[str, Figure]:
        """Its figures by the stems of their files."""
        evidence = self.judgement.evidence if self.judgement else None
        return by_stem(evidence.figures) if evidence else {}

    @property
    def tables(self) -> dict[str, Table]:
        """Its tables by the stems of their files."""
        evidence = self.judgement.evidence if self.judgement else None
        return by_stem(evidence.tables) if evidence else {}

    @property
    def headline(self) -> Check | None:
        """The check that decided."""
        evidence = self.judgement.evidence if self.judgement else None
        return evidence.decisive if evidence else None

    @property
    def source(self) -> str:
        """The file with the experiment."""
        module = self.claim.experiment.__module__
        inside = module.removeprefix("descant.")
        return f"{SOURCE}/{inside.replace('.', '/')}.py" if inside != module else module


def by_stem(items: Sequence[Any]) -> dict[str, Any]:
    """By names that are safe in files and addresses, each once."""
    found: dict[str, Any] = {}
    for item in items:
        # A dot would begin a suffix.
        stem = slug(item.name.replace(".", "-"))
        name, count = stem, 1
        while name in found:
            count += 1
            name = f"{stem}-{count}"
        found[name] = item
    return found


@lru_cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "paragraphs": paragraphs,
        "line": line,
        "bare": bare,
        "number": number,
        "duration": duration,
    }
    environment.globals |= {
        "measured": measured,
        "standings": STANDINGS,
        "outcomes": OUTCOMES,
        "outcome_words": OUTCOME_WORDS,
        "relations": RELATIONS,
        "ours": ours,
        "bound": bound,
        "cells": cells,
        "inlined": inlined,
        "together": together,
    }
    return environment


def front_page(entries: list[Entry]) -> str:
    """`index.html`."""
    papers = []
    for paper in PAPERS.values():
        its = [entry for entry in entries if entry.claim.paper == paper.id]
        if its:
            said = [entry for entry in its if not entry.ours]
            added = [entry for entry in its if entry.ours]
            papers.append({"paper": paper, "entries": its, "said": said, "added": added})
    speaking = sum(bool(each["said"]) for each in papers)
    stated = [entry for entry in entries if not entry.ours]
    own = [entry for entry in entries if entry.ours]
    judged = [entry.judgement for entry in entries if entry.judgement]
    environment = next((each.environment for each in judged if each.environment), {})
    return render(
        "index.html",
        papers=papers,
        papers_say="One paper says" if speaking == 1 else f"{WORDS.get(speaking, speaking)} papers say",
        entries=entries,
        stated=len(stated),
        identities=sum(entry.claim.identity for entry in stated),
        counts=_counts(stated),
        own=_counts(own) if own else None,
        count=_counts,
        standing=_counts(entries),
        budget=judged[0].budget if judged else BUDGETS[0],
        seed=judged[0].seed if judged else 0,
        seconds=sum(each.seconds for each in judged),
        environment=environment,
        home="",
    )


def _counts(entries: list[Entry]) -> dict[str, int]:
    return {name: sum(entry.standing == name for entry in entries) for name in STANDINGS}


def claim_page(entry: Entry, previous: Entry | None, following: Entry | None) -> str:
    """`claims/ID.html`."""
    evidence = entry.judgement.evidence if entry.judgement else None
    figures = [
        {"stem": stem, "figure": figure, "ready": drawing(figure), "rows": some_rows(figure)}
        for stem, figure in entry.figures.items()
    ]
    tables = [{"stem": stem, "table": table} for stem, table in entry.tables.items()]
    budget = entry.judgement.budget if entry.judgement else BUDGETS[0]
    return render(
        "claim.html",
        entry=entry,
        claim=entry.claim,
        judgement=entry.judgement,
        evidence=evidence,
        figures=figures,
        tables=tables,
        budget=budget,
        command=_command(entry, budget),
        previous=previous,
        following=following,
        home="../",
    )


def render(name: str, **given: Any) -> str:
    return _templates().get_template(name).render(**given)


def _command(entry: Entry, budget: str) -> str:
    module = entry.claim.experiment.__module__
    where = "" if module.startswith("descant.") else f"DESCANT_CLAIMS={module} "
    # A fresh folder: in the old one the judgement would be found, and nothing repeated.
    seed = entry.judgement.seed if entry.judgement else 0
    flags = (f" --budget {budget}" if budget != BUDGETS[0] else "") + (f" --seed {seed}" if seed else "")
    return f"{where}descant reproduce {entry.claim.id}{flags} --out again"


def some_rows(figure: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]] | None:
    columns, rows = figure_rows(figure)
    return (columns, rows) if len(rows) <= MOST_ROWS else None


def ours(check: Check) -> Markup:
    """Our value of a check."""
    if check.relation == "is":
        return Markup("yes" if check.value else "no")
    if check.interval:
        low, high = (number(end, 3) for end in check.interval)
        return Markup('{} <span class="exact">({} to {})</span>').format(number(check.value, 3), low, high)
    return measured(check.value, check.error, check.exact)


def bound(check: Check) -> Markup:
    """What it is compared with."""
    if check.relation == "is":
        return Markup("yes")
    return measured(check.bound, check.bound_error) if check.bound_error else number(check.bound)


def together(checks: Sequence[Check]) -> list[tuple[Check, int]]:
    """Each check, and over how many rows its reason stands: 0 where it is that of the row before."""
    spans: list[list[int]] = []
    for before, check in zip((None, *checks), checks, strict=False):
        if before and before.reason == check.reason:
            spans[-1].append(0)
        else:
            spans.append([0])
    return list(zip(checks, (span for group in spans for span in (len(group), *group[1:])), strict=True))


def cells(table: Table) -> dict[str, Any]:
    """A table as it is shown: a column of standard errors goes into the one before it."""
    shown = [index for index, name in enumerate(table.columns) if name != "±" or index == 0]
    rows = []
    for row in table.rows:
        made = []
        for index in shown:
            paired = index + 1 < len(row) and table.columns[index + 1] == "±"
            made.append(_cell(row[index], row[index + 1] if paired else None, paired))
        rows.append(made)
    return {"columns": [table.columns[index] for index in shown], "rows": rows}


def _cell(value: Any, error: Any, paired: bool) -> dict[str, Any]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {"numeric": False, "text": line("–" if value is None else str(value))}
    if paired and (error is None or isinstance(error, (int, float))):
        return {"numeric": True, "text": measured(float(value), float(error or 0.0))}
    return {"numeric": True, "text": number(value)}


def inlined(value: Any) -> Markup:
    """JSON that can stand in a script element: no "<", so nothing in it can end the element."""
    return Markup(json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"))
