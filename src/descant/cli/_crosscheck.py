"""`descant crosscheck`: exact risks beside two Monte Carlo estimates."""

import csv
import io
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..crosscheck import RiskRow

# Of about a hundred independent z-scores, one beyond 4 comes up by chance once in 150 runs; draws are seeded.
Z_LIMIT = 4.0


def crosscheck(
    *,
    out: Path = Path("results/crosscheck"),
    samples: int = 120_000,
    seed: int = 0,
    json: Json = False,
    force: Force = False,
) -> int:
    """Measure every predictor on four tasks three ways (exact, moments, tokens) and compare them.

    Finished tasks are kept in OUT and found again, so an interrupted run goes on where it stopped. Exit status 1 if an
    estimate is further than four standard errors from what it should be.

    Parameters
    ----------
    out
        Folder for risks.csv, heads.png and the finished rows.
    samples
        Contexts to draw for each estimate.
    seed
        Seed of the draws.
    force
        Write over files in OUT that Descant did not write.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .. import _check
    from .._disk import write_whole
    from .._output import reserve
    from .._sampling import MOST_SAMPLES
    from .._watching import watching
    from ..crosscheck import four_tasks, heads_figure, largest_z, measure_all
    from ..figures.static import png

    _check.size("--samples", samples, least=2, most=MOST_SAMPLES)
    reserve(out, ("risks.csv", "heads.png", "rows"), force=force)
    console = Console(stderr=json)
    rows: list[RiskRow] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("figure", total=len(four_tasks()) + 1)
        write_whole(out / "heads.png", png(heads_figure()))
        progress.update(bar, advance=1, description="risks on four tasks")
        watching.set(lambda share, _: progress.update(bar, description=f"risks on four tasks: {share:.0%} of a draw"))
        for finished in measure_all(out / "rows", samples, seed):
            rows += finished
            progress.update(bar, advance=1)
    write_whole(out / "risks.csv", _as_csv(rows))
    worst, count = largest_z(rows)
    if json:
        body = {"rows": [asdict(row) for row in rows], "largest_z": worst, "comparisons": count, "limit": Z_LIMIT}
        print_json("crosscheck", {**body, "out": str(out)}, seed=seed, samples=samples)
    else:
        for label in four_tasks():
            _print_table(console, label, [row for row in rows if row.task == label])
        console.print(f"Largest |z| of {count} comparisons: {worst:.2f} (limit {Z_LIMIT:g}).", highlight=False)
        console.print(f"Written: {out / 'risks.csv'}, {out / 'heads.png'}", highlight=False, soft_wrap=True)
    return 0 if worst <= Z_LIMIT else 1


def _as_csv(rows: "list[RiskRow]") -> str:
    from ..crosscheck import RiskRow

    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(RiskRow)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def _print_table(console, label: str, rows: "list[RiskRow]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    # Narrow enough for a terminal of 80 columns.
    table = Table(title=label, title_justify="left", caption_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("predictor", no_wrap=True)
    for column in ("exact", "moments", "±", "z", "tokens", "±", "z"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        if row.note:
            table.caption = f"{table.caption or ''}{row.name}: {row.note}\n"
            table.add_row(row.name, *["-"] * 7)
            continue
        moments = _number(row.moments), _number(row.moments_error, 2), _score(row.z_moments)
        tokens = _number(row.tokens), _number(row.tokens_error, 2), _score(row.z_tokens)
        table.add_row(row.name, _number(row.exact), *moments, *tokens)
    console.print(table)


def _number(value: float | None, digits: int = 5) -> str:
    if value is None:
        return "-"
    return f"{value:.0e}" if 0 < abs(value) < 1e-6 else f"{value:.{digits}g}"


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"
