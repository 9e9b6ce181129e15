"""`descant table1`: the main table of the linear-transformer paper, trained again."""

import time
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._plain import line

if TYPE_CHECKING:
    from ..claims.linear_transformer import Entry

# The deepest FULL network that is trained here.
FULL_LAYERS = 4
VERDICTS = {
    "better": "[green]better[/green]",
    "equal": "equal",
    "bound": "[yellow]at the bound[/yellow]",
    "worse": "[red]worse[/red]",
}


def table1(
    *,
    noise: str | None = None,
    layers: int | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    out: Path = Path("results/table1"),
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Train GD++, DIAG and FULL networks on the paper's noise laws; print their adjusted half-MSE beside the paper's.

    Each law is a run of its own under the folder: interrupted work goes on, finished work is found.

    Parameters
    ----------
    noise
        One law only: 0, uniform:1, uniform:3, uniform:5, uniform:7 or 1,3.
    layers
        The deepest network (5; FULL has at most 4).
    quick
        Without FULL, which is trained on uniform:5 and 1,3: 20 minutes on two cores instead of 30.
    out
        Folder of the runs.
    seed
        Seed of pools, starts and measurements.
    json
        Print the entries as a JSON list.
    """
    from rich.console import Console

    from ..claims.linear_transformer import FULL_LAWS, LAWS, table_1

    if noise is not None and noise not in LAWS:
        raise ValueError(f"noise is {noise!r}; expected one of: {', '.join(LAWS)}.")
    depth = 5 if layers is None else layers
    if not 1 <= depth <= 5:
        raise ValueError(f"layers is {depth}; expected 1 to 5, which the paper's table has.")
    laws = LAWS if noise is None else (noise,)
    full_laws = () if quick else tuple(law for law in laws if law in FULL_LAWS)
    console = Console(stderr=True)
    began = time.monotonic()
    entries: list[Entry] = []
    with console.status("drawing contexts") as status:

        def show(rows: list[dict[str, Any]]) -> None:
            row = rows[-1]
            status.update(
                f"run {len(done) + 1} of {len(laws) + len(full_laws)}: {row['level']} layers, {row['phase']} step "
                f"{row['step']}, excess over Bayes {row['loss']:.4g}, {time.monotonic() - began:.0f} s"
            )

        done: list[str] = []
        for found in chain(
            table_1(out, laws, layers=depth, seed=seed, on_rows=show),
            table_1(out, full_laws, layers=min(depth, FULL_LAYERS), full=True, seed=seed, on_rows=show),
        ):
            # The networks on the way to FULL are in the table already.
            entries += [entry for entry in found if entry.model == "full" or len(done) < len(laws)]
            done.append(found[0].law)
    if json:
        print(line("entries", [{**asdict(entry), "verdict": entry.verdict} for entry in entries]))
        return
    _print(entries, time.monotonic() - began)


def _print(entries: "list[Entry]", seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Adjusted half-MSE, d = 10, n = 20 (Vladymyrov et al. 2024, Table 1)", title_justify="left")
    table.caption = (
        "ours: over contexts on which the network does not explode, with standard error. ratio: ours / paper's. "
        "exploding: the share of the others, on which it errs by more than ten times what predicting zero costs; mean: "
        "over all contexts. At the bound: the paper's number lies below the best constant ridge, which no GD++ can "
        "beat; ours is at it."
    )
    for column in ("noise", "model"):
        table.add_column(column)
    for column in ("layers", "ours", "±", "paper", "ratio", "const ridge", "exploding", "mean"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for index, entry in enumerate(entries):
        numbers = (
            entry.ordinary,
            entry.ordinary_error,
            entry.paper,
            entry.ordinary / entry.paper,
            entry.const_ridge,
            entry.exploding,
            entry.value,
        )
        last = index + 1 == len(entries) or entries[index + 1].law != entry.law
        cells = (f"{number:.3g}" for number in numbers)
        table.add_row(entry.law, entry.model, str(entry.layers), *cells, VERDICTS[entry.verdict], end_section=last)
    Console().print(table)
    Console().print(f"{seconds:.0f} s", style="dim")
