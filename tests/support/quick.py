"""Which of many cases a user's quick run takes."""

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], *chosen: Any) -> list[Any]:
    """The chosen cases, or the first if none is; the others are marked slow: `pytest -m slow` runs them."""
    cases = list(cases)
    chosen = chosen or (cases[0],)
    missing = [case for case in chosen if case not in cases]
    assert not missing, f"no such cases: {missing}"
    return [case if case in chosen else _slow(case) for case in cases]


def _slow(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
