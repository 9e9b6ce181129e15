"""`descant table1`: the main table of the linear-transformer paper, trained again."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..claims.linear_transformer import Cell

MOST_LAYERS = 7
VERDICTS = {
    "better": "[green]better[/green]",
    "equal": "equal",
    "bound": "[yellow]bound[/yellow]",
    "worse": "[red]worse[/red]",
}


def table1(
    *,
    noise: str | None = None,
    layers: int | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    out: Path = Path("report"),
    seed: int = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Print the adjusted half-MSE of GD++, DIAG and FULL networks on the paper's noise laws beside the paper's.

    The networks are those of `descant reproduce` in the same folder, with the full budget; those that are not there yet
    are trained. Interrupted work goes on, finished work is found.

    Parameters
    ----------
    noise
        One law only: 0, uniform:1, ..., uniform:7, 1,3 or 1,3,5.
    layers
        The deepest network; as deep as the budget has it by default, at most 7.
    quick
        The networks that come with Descant, measured again, without FULL: seconds instead of hours.
    out
        Folder of the report.
    seed
        Seed of pools, starts and measurements.
    force
        Write into a folder `table1` in OUT that Descant did not make.
    """
    from rich.console import Console

    from .._output import reserve
    from ..claims import Lab
    from ..claims.linear_transformer import FULL_LAWS, LAWS, PRINTED_LAWS, SAMPLES, table_1

    if noise is not None and noise not in PRINTED_LAWS:
        raise ValueError(f"--noise is {noise!r}; expected one of: {' or '.join(PRINTED_LAWS)}.")
    if layers is not None and not 1 <= layers <= MOST_LAYERS:
        raise ValueError(f"--layers is {layers}; expected 1 to {MOST_LAYERS}, which the paper's table has.")
    laws = LAWS if noise is None else (noise,)
    full_laws = () if quick else FULL_LAWS if noise is None else laws
    reserve(out, ("table1",), force=force)
    console = Console(stderr=True)
    began = time.monotonic()
    with console.status("drawing contexts") as status:

        def tell(words: str, share: float | None) -> None:
            done = "" if share is None else f", {share:.0%}"
            status.update(f"{words}{done}; {time.monotonic() - began:.0f} s")

        lab = Lab(out / "table1", out / "runs", "quick" if quick else "full", seed, tell)
        found = [cell for cells in table_1(lab, laws, full_laws, layers) for cell in cells]
    if json:
        rows = [{**asdict(cell), "verdict": cell.verdict} for cell in found]
        print_json("table1", {"cells": rows}, seed=seed, samples=lab.pick(*SAMPLES))
        return
    _print(found, time.monotonic() - began)


def _print(found: "list[Cell]", seconds: float) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    # Narrow enough for a terminal of 80 columns.
    title = "Adjusted half-MSE, d = 10, n = 20 (Vladymyrov et al. 2024, Table 1)"
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.caption = (
        "L: layers. ours: over contexts on which the network does not explode, with standard error. exploding: the "
        "share of the others, on which it errs by more than ten times what predicting zero costs; mean: over all "
        "contexts. bound: the paper's number lies below the best constant ridge, which no GD++ can beat; ours is at it."
    )
    for column in ("noise", "model"):
        table.add_column(column, no_wrap=True)
    for column in ("L", "ours", "±", "paper", "const\nridge", "exploding", "mean"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for index, cell in enumerate(found):
        ours = cell.ordinary, cell.ordinary_error
        texts = (f"{number:.3g}" for number in (*ours, cell.paper, cell.const_ridge, cell.exploding, cell.value))
        last = index + 1 == len(found) or found[index + 1].law != cell.law
        table.add_row(cell.law, cell.model, str(cell.layers), *texts, VERDICTS[cell.verdict], end_section=last)
    Console().print(table)
    Console().print(f"{seconds:.0f} s", style="dim")
