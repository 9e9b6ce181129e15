"""Run the experiment of a claim as it is, and with an error planted: a claim that can't fail says nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from descant.claims import Evidence, Lab, find


@dataclass(frozen=True)
class Planted:
    """Replace `target` ("descant.claims.ltb.gap.gap_bound", where the experiment looks it up) by `broken(original)`.

    `smaller` replaces constants of the experiment by cheaper ones, so that the test is fast; the untouched experiment
    must give `verdict` with them too.
    """

    claim: str
    target: str
    broken: Callable[[Any], Any]
    verdict: str = "holds"
    smaller: dict[str, Any] = field(default_factory=dict)


def run(id: str, folder: Path, budget: str = "quick") -> Evidence:
    """The evidence of one claim, nothing found again."""
    return find([id])[id].experiment(Lab(folder / "claim", folder / "runs", budget))


def plant(monkeypatch, planted: Planted) -> None:
    """Break the experiment."""
    module, name = planted.target.rsplit(".", 1)
    home = import_module(module)
    monkeypatch.setattr(home, name, planted.broken(getattr(home, name)))


def shrink(monkeypatch, planted: Planted) -> None:
    """Make the experiment cheaper."""
    for target, value in planted.smaller.items():
        module, name = target.rsplit(".", 1)
        monkeypatch.setattr(import_module(module), name, value)


def cases(planted: list[Planted], *quick: str) -> list:
    """The planted errors as cases of a test; those of a user's quick run are named, the others are marked slow."""
    return [
        pytest.param(each, id=each.claim, marks=() if each.claim in quick else pytest.mark.slow) for each in planted
    ]
