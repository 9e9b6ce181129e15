"""Tables of `descant llm`, each narrow enough for a terminal of 80 columns; and bars while it asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._counted import counted

if TYPE_CHECKING:
    from ..llm import CompareRow, Report, ShareReport, Study, TextResults

COLOURS = {"holds": "green", "does-not-hold": "red", "undecided": "yellow"}


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage, where somebody watches."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
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


def print_study(study: "Study", report: "Report", name: str) -> None:
    """Answers by guess, the guesses themselves, the wordings, and the verdicts."""
    from rich.console import Console
    from rich.markup import escape

    from ..llm import near_chance

    console = Console()
    rows, asked = report.rows, study.first.asked
    draws = study.first.draws * asked.seeds
    sizes = (counted(len(asked.queries), "query", "queries"), f"{counted(draws, 'draw')} of {asked.shots}")
    counts = ", ".join((*sizes, counted(len(study.wordings), "wording")))
    doubtful = [column for column in ("failed", "ambiguous") if any(getattr(row, column) for row in rows)]
    names = {"failed": "no\nscore", "ambiguous": "in\ndoubt"}
    answers = _table(f"{escape(name)}: {counts}; 95%", "guess", "MSE", "MAE", "Spearman", *(names[c] for c in doubtful))
    for row in rows:
        more = (str(getattr(row, column) or "-") for column in doubtful)
        answers.add_row(row.guess, str(row.mse), str(row.mae), str(row.spearman), *more)
    console.print(answers)
    guesses = _table("The guess", "guess", "alone:\nMSE", "alone:\nSpearman", "copied", "corrected", "displaced")
    guesses.caption = (
        "alone: the guess itself as the answer. copied, corrected: the coefficients of guess and label in the "
        "regression of the answer on both. displaced: Spearman lost against no guess. With standard errors."
    )
    for row in rows:
        if row.guess != "none":
            cells = (row.alone_mse, row.alone_spearman, row.copied, row.corrected, row.displaced)
            guesses.add_row(row.guess, *map(_with_error, cells))
    console.print(guesses)
    if len(study.wordings) > 1:
        wordings = _table(
            "Spearman by wording", "wording", "none,\nelsewhere", "none", "embedding", "shuffled", "copied"
        )
        wordings.caption = f"{study.chosen} was chosen: elsewhere, on training pairs, it shows most without a guess."
        for row in report.wordings:
            cells = (row.choice, row.none, row.embedding, row.shuffled, row.copied)
            wordings.add_row(f"{escape(row.wording)}{' *' if row.chosen else ''}", *map(_with_error, cells))
        console.print(wordings)
    else:
        console.print("One wording: what another would give, these intervals don't say.")
    if near_chance(study):
        console.print("Spearman without a guess is not shown to be above 0.1: (a) can only show copying.")
    for each in report.verdicts:
        _verdict(console, f"({each.claim})", each)


def print_shares(results: "TextResults", report: "ShareReport") -> None:
    """Shares of the guess by the number of examples, and the verdict."""
    from rich.console import Console
    from rich.markup import escape

    console, setting = Console(), results.tasks.setting
    title = f"{escape(report.model)}: share of the guess; {counted(setting.tasks, 'task')}, "
    title += f"{counted(len(results.wordings), 'wording')}, "
    others = [name for name in report.rows[0].learners if name != "y_q-LSA"]
    columns = ("the model", "y_q-LSA", *(name.partition(",")[0] for name in others), "MSE", "guess alone")
    table = _table(f"{title}d = {setting.d}", "examples", *columns)
    table.caption = (
        "The coefficient of the guess in the regression of the answer on guess and label. y_q-LSA's is exact; descent "
        "(10 steps) and Bayes are computed on the same prompts. MSE in units of the label's variance."
    )
    for row in report.rows:
        cells = (_with_error(row.learners[name]) for name in others)
        errors = (_with_error(row.error), f"{row.alone.value:.2f}")
        table.add_row(str(row.n), _with_error(row.share), f"{row.exact:.3f}", *cells, *errors)
    console.print(table)
    _verdict(console, "(share)", report.verdict)


def print_comparison(names: list[str], rows: "list[CompareRow]") -> None:
    """The first model less the second."""
    from rich.console import Console
    from rich.markup import escape

    table = _table(f"{escape(names[0])} less {escape(names[1])}", "guess", "MSE", "Spearman", "copied", "displaced")
    table.caption = "Same queries, demonstrations and wordings; with standard errors."
    for row in rows:
        table.add_row(row.guess, *map(_with_error, (row.mse, row.spearman, row.copied, row.displaced)))
    Console().print(table)


def _verdict(console: Any, name: str, judged: Any) -> None:
    console.print(
        f"{name} [{COLOURS[judged.verdict]}]{judged.verdict}[/]: {judged.statement}\n{judged.reason}", highlight=False
    )


def _table(title: str, *columns: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    # A line apart from what stands before it.
    made = Table(
        title=f"\n{title}", title_justify="left", caption_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False
    )
    for index, column in enumerate(columns):
        made.add_column(column, justify="right" if index else "left", no_wrap=True)
    return made


def _with_error(interval: Any) -> str:
    return f"{interval.value:.2f} ± {interval.error:.2f}" if interval.value == interval.value else "-"
