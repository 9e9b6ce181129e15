"""`descant claims` and `descant reproduce`: what the papers say, judged."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..claims import Claim, Judgement, Title

MARKS = {
    "holds": "[green]holds[/green]",
    "does-not-hold": "[red]does not hold[/red]",
    "not-as-read": "[magenta]not as transcribed[/magenta]",
    "not-in-ours": "[magenta]not in our networks[/magenta]",
    "undecided": "[yellow]undecided[/yellow]",
}


def claims(*ids: str, json: Json = False) -> None:
    """List the claims, what they say and where the papers say it.

    Parameters
    ----------
    ids
        Claims, or papers (elsa, initial-guess, ltb, linear-transformer, descant, your own); all by default.
    """
    from rich.console import Console
    from rich.table import Table

    from ..claims import PAPERS, find, titles

    if json:
        found = find(list(ids))
        words = [
            {name: value for name, value in vars(claim).items() if name != "experiment"} for claim in found.values()
        ]
        print_json("claims", {"claims": words})
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    paper = None
    for claim in titles(list(ids)).values():
        if claim.paper != paper:
            paper = claim.paper
            table.add_row(f"[bold]{PAPERS[paper].short}[/bold]", PAPERS[paper].source)
        table.add_row(f"  {claim.id}", _title(claim))
    Console().print(table)


def reproduce(
    *ids: str,
    budget: Literal["quick", "full"] = "quick",
    out: Path = Path("report"),
    seed: int = 0,
    processes: int | None = None,
    json: Json = False,
    force: Force = False,
) -> int:
    """Run the experiments of the papers' claims, judge each, and write the report.

    Finished claims are kept in OUT and found again, so an interrupted run goes on where it stopped. The report shows
    all claims that were judged in OUT with this budget and seed. Exit status 1 if an experiment could not be run to its
    end; a claim that does not hold is a result, not an error.

    Parameters
    ----------
    ids
        Claims, or papers (elsa, initial-guess, ltb, linear-transformer, descant, your own); all by default.
    budget
        quick: all claims in about a quarter of an hour on two cores. full: hours there, or minutes on a GPU.
    out
        Folder of the report: index.html, verdicts.json, and the evidence.
    seed
        Seed of everything that is drawn.
    processes
        Claims that are judged at the same time; as many as there are cores by default.
    force
        Write over files in OUT that Descant did not write.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .._extras import require
    from .._output import reserve
    from ..claims import all_claims, find, judge_all, kept
    from ..report import NAMES, draw_figures, write_report

    if processes is not None and processes < 1:
        raise ValueError(f"processes is {processes}; expected at least 1.")
    asked, everything = find(list(ids)), all_claims()
    reserve(out, NAMES, force=force)
    before = kept(out, everything, budget=budget, seed=seed)
    for claim in asked.values():
        for package in claim.needs if claim.id not in before else ():
            require(package, f"the claim {claim.id}")
    console = Console(stderr=json)
    judgements: dict[str, Judgement] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    events = judge_all(asked, out, budget=budget, seed=seed, processes=processes, afterwards=draw_figures)
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("claims", total=len(asked))
        rows = {}
        for event in events:
            if event.kind == "begun" and event.id not in rows:
                rows[event.id] = progress.add_task(f"  {event.id}", total=None)
            elif event.kind == "on its way" and event.id in rows:
                total = None if event.share is None else 1.0
                progress.update(
                    rows[event.id], description=f"  {event.id}: {event.words}", completed=event.share or 0, total=total
                )
            elif event.judgement is not None:
                judgements[event.id] = event.judgement
                progress.update(bar, advance=1)
                if event.id in rows:
                    progress.remove_task(rows[event.id])
                    console.print(_line(asked[event.id], event.judgement), highlight=False, soft_wrap=True)
    judgements = {id: judgements[id] for id in asked}
    # What was judged before in this folder stays in the report; what never was is listed as not run.
    page = write_report(out, everything, before | judgements)
    if json:
        rows = [_as_json(claim, judgements[id]) for id, claim in asked.items()]
        print_json("reproduce", {"budget": budget, "page": str(page), "verdicts": rows}, seed=seed)
    else:
        _print_summary(console, asked, judgements, page)
    return 1 if any(judgement.failure for judgement in judgements.values()) else 0


def _as_json(claim: "Claim", judgement: "Judgement") -> dict[str, Any]:
    failure = judgement.failure.strip().splitlines()[-1] if judgement.failure else None
    shown = {"id": claim.id, "paper": claim.paper, "verdict": judgement.verdict, "failure": failure}
    return {**shown, "seconds": round(judgement.seconds, 1)}


def _title(claim: "Claim | Title") -> str:
    """The headline for a terminal, which sets no formulas."""
    from ..figures import bare

    return bare(claim.title)


def _line(claim: "Claim", judgement: "Judgement") -> str:
    if judgement.failure:
        last = judgement.failure.strip().splitlines()[-1]
        return f"[red]failed[/red]  {claim.id}: {last}"
    return f"{MARKS[claim.standing(judgement.verdict)]}  {_title(claim)} ({claim.id}, {judgement.seconds:.0f} s)"


def _print_summary(console, claims: "dict[str, Claim]", judgements: "dict[str, Judgement]", page: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from ..claims import PAPERS

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("paper", "holds", "does not hold", "not as transcribed", "not in our networks", "undecided"):
        table.add_column(column, justify="left" if column == "paper" else "right")
    for paper in PAPERS.values():
        its = {id: judgement for id, judgement in judgements.items() if claims[id].paper == paper.id}
        if its:
            standings = [claims[id].standing(judgement.verdict) for id, judgement in its.items()]
            counts = (str(standings.count(each)) for each in MARKS)
            table.add_row(f"{paper.short} ({paper.source})" if paper.source else paper.short, *counts)
    console.print(table)
    for id, judgement in judgements.items():
        if judgement.verdict != "holds":
            console.print(_line(claims[id], judgement), highlight=False, soft_wrap=True)
    console.print(f"Written: {page}", highlight=False, soft_wrap=True)
