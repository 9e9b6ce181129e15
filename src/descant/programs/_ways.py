"""The ways to build a program beside each other: what fewer blocks cost in columns and weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..figures import Axis, Figure, Panel, Series
from ._compile import PREFERENCES, candidates
from ._library import find
from .language import Program


@dataclass(frozen=True)
class Way:
    """Sizes of a network for a program: `work` counts the weights of every block that is run, `parameters` once.

    `preferred` are the preferences of `compile_program` that take it.
    """

    rows: int
    columns: int
    blocks: int
    parameters: int
    work: int
    preferred: tuple[str, ...] = ()


def ways(
    program: Program | str | Path,
    settings: Mapping[str, Any] | None = None,
    /,
    *,
    hoist: bool = True,
    **more: Any,
) -> tuple[Way, ...]:
    """The ways to build a program that no other one beats in everything, the fewest blocks first.

    **Arguments:** as those of `compile_program`.

    >>> ways("gd_beta", n=20, d=5)[0].blocks
    2
    """
    program = program if isinstance(program, Program) else find(program)
    found = list(candidates(program.trace(settings, **more), hoist=hoist))
    best = {prefer: min(found, key=key) for prefer, key in PREFERENCES.items()}
    made = {
        (each.blocks, each.columns, each.parameters, each.work): Way(
            each.layout.rows,
            each.columns,
            each.blocks,
            each.parameters,
            each.work,
            tuple(prefer for prefer, way in best.items() if way is each),
        )
        for each in reversed(found)  # of equal ones the first, as `compile_program` takes it
    }
    return tuple(made[key] for key in sorted(made) if not any(_beats(other, key) for other in made))


def _beats(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def trade_off(name: str, found: tuple[Way, ...]) -> Figure:
    """What the ways to build a program cost, against how many blocks they run."""
    quantities = (
        ("Width", "columns of H", [way.columns for way in found], False),
        ("Parameters", "weights, blocks counted once", [way.parameters for way in found], True),
        ("Work", "weights, every run counted", [way.work for way in found], True),
    )
    panels = []
    for title, label, values, log in quantities:
        points = Series("network", tuple(float(way.blocks) for way in found), tuple(map(float, values)), style="points")
        panels.append(Panel(title, Axis("blocks that are run"), Axis(label, log=log), (points,)))
    see = (
        "Every point is a network that computes the same, and that no other one known to the compiler beats in all "
        "three panels and in the number of blocks."
    )
    return Figure(f"ways-{name}", f"Ways to build {name}", see, tuple(panels), columns=3)
