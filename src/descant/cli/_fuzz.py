"""`descant fuzz`: random programs against what their texts mean."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._counted import counted
from ._flags import Force, Json
from ._printing import print_json

if TYPE_CHECKING:
    from ..programs.fuzz import Failure, Tally


def fuzz_command(
    *,
    programs: int = 1000,
    seed: int = 0,
    max_steps: int = 1000,
    out: Path | None = None,
    json: Json = False,
    force: Force = False,
) -> int:
    """Compile random programs, and compare their networks with what the programs mean.

    The programs are written from a seed. What they mean is computed by NumPy from their texts, in higher precision,
    together with how far rounding may carry it. Exit status 1 if a network gives another result, if the compiler ends
    with a traceback, or if a program takes it more than ten seconds.

    Parameters
    ----------
    programs
        How many.
    seed
        Which ones.
    max_steps
        Iterations of the longest loops; every fourth program has one, which contracts.
    out
        Folder for the programs that fail, and for the smallest ones that fail in the same way, with arrays to run them.
    force
        Write over files in OUT that Descant did not write.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .. import _check
    from .._output import reserve
    from ..programs.fuzz import Tally, files, fuzz, keep

    _check.size("--programs", programs, least=1, most=10**9)
    _check.size("--max-steps", max_steps, least=1, most=100_000)
    if out is not None:
        reserve(out, (), force=force)
    console, tally = Console(stderr=True), Tally()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("programs", total=programs)

        def told(now: "Tally", failure: "Failure | None") -> None:
            progress.update(bar, completed=now.programs, description=f"programs, {len(now.failures)} failed")
            if failure is not None and out is not None:
                reserve(out, files(failure), force=force)
                keep(failure, out)

        try:
            fuzz(programs, seed, steps=max_steps, told=told, tally=tally)
        finally:
            # Also of what was done when somebody interrupts it.
            progress.stop()
            _tell(tally, seed, max_steps, out, json)
    return 1 if tally.failures else 0


def _tell(tally: "Tally", seed: int, max_steps: int, out: Path | None, json: bool) -> None:
    from ..programs.fuzz import OUTCOMES, WORTHS

    failures = [
        {
            "outcome": each.verdict.outcome,
            "what": each.verdict.sentence,
            "number": each.written.number,
            "program": each.smallest.text,
            "settings": dict(each.smallest.settings),
        }
        for each in tally.failures
    ]
    if json:
        counts = {"outcomes": {name: tally.outcomes[name] for name in OUTCOMES}}
        worths = {"comparisons": {name: tally.worths[name] for name in WORTHS}, "vacuous": tally.vacuous}
        body = {"programs": tally.programs, "networks": tally.networks, "max_steps": max_steps, **counts, **worths}
        more = {"refusals": dict(tally.reasons), "slowest_s": tally.slowest, "failures": failures}
        print_json("fuzz", {**body, **more, "out": None if out is None else str(out)}, seed=seed)
        return
    found = ", ".join(f"{tally.outcomes[name]} {name}" for name in OUTCOMES if tally.outcomes[name])
    programs, networks = counted(tally.programs, "program"), counted(tally.networks, "network")
    print(f"{programs}, {networks}: {found or 'nothing'}.")
    total = sum(tally.worths.values())
    shares = ", ".join(f"{tally.worths[name] / max(1, total):.1%} {name}" for name in WORTHS)
    print(f"{total} outputs were compared: {shares}. No network took over {tally.slowest:.1f} s to compile or to run.")
    for reason, count in tally.reasons.most_common(5):
        print(f"refused {count} times: {reason}")
    for each in failures:
        settings = " ".join(f"{name}={value}" for name, value in each["settings"].items())
        print(f"\n{each['outcome']}, number {each['number']}: {each['what']}\n--set {settings}\n{each['program']}")
    if failures and out is not None:
        print(f"Written to {out}.")
