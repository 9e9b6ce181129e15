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

    The untouched experiment must give `verdict`, the broken one `becomes`. `smaller` replaces constants of the
    experiment by cheaper ones, so that the test is fast.
    """

    claim: str
    target: str
    broken: Callable[[Any], Any]
    verdict: str = "holds"
    becomes: str = "does-not-hold"
    smaller: dict[str, Any] = field(default_factory=dict)


def run(id: str, folder: Path, budget: str = "quick") -> Evidence:
    """The evidence of one claim, nothing found again."""
    return find([id])[id].evidence(Lab(folder / "claim", folder / "runs", budget))


def plant(monkeypatch, planted: Planted) -> None:
    """Break the experiment."""
    module, name = planted.target.rsplit(".", 1)
    home = import_module(module)
    monkeypatch.setattr(home, name, planted.broken(getattr(home, name)))


def shrink(monkeypatch, planted: Planted) -> None:
    """Make the experiment cheaper, and searches for the best heads, whose minimum must be found three times anyway."""
    for target, value in {"descant.forms._heads.FEWEST_STARTS": 6, **planted.smaller}.items():
        module, name = target.rsplit(".", 1)
        monkeypatch.setattr(import_module(module), name, value)


def see(monkeypatch, planted: Planted, folder: Path) -> None:
    """Judge the claim as it is and broken: each has the verdict that it must have."""
    shrink(monkeypatch, planted)
    assert run(planted.claim, folder / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert run(planted.claim, folder / "broken").verdict == planted.becomes


def cases(planted: list[Planted], *quick: str) -> list:
    """The planted errors as cases of a test; those of a user's quick run are named, the others are marked slow."""
    return [
        pytest.param(
            each, id=each.claim, marks=[] if each.claim in quick else [pytest.mark.slow, pytest.mark.optimised]
        )
        for each in planted
    ]
