"""What an experiment is given: a budget, keys, a place to keep finished parts, and someone to tell how far it is."""

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import jax
from jaxtyping import PRNGKeyArray

from .. import _kept
from .._names import slug
from ..runs import Run, Store

PARTS = "parts"
# How much an experiment may spend; `pick` chooses between its numbers for less and for more.
BUDGETS = ("quick", "full")
WAIT_S = 1.0
T = TypeVar("T")


def silent(words: str, share: float | None) -> None:
    """Tell nobody."""
    del words, share


@dataclass(frozen=True)
class Lab:
    """A bench for one claim.

    `folder` is the claim's own: what `keep` finished there is found again after an interruption. `runs` is one store
    for all claims, so that networks that several claims look at are trained once.
    """

    folder: Path
    runs: Path
    budget: str = "quick"
    seed: int = 0
    tell: Callable[[str, float | None], None] = field(default=silent)
    # What the parts that were found again had taken.
    found: list[float] = field(default_factory=list)

    def pick(self, quick: T, full: T) -> T:
        """The setting for this budget."""
        return full if self.budget == "full" else quick

    def key(self, name: str) -> PRNGKeyArray:
        """A random key for a named purpose: other names, other draws."""
        return jax.random.fold_in(jax.random.key(self.seed), zlib.crc32(name.encode()))

    def keep(self, name: str, compute: Callable[[], Any]) -> Any:
        """What `compute` returns (numbers, text, lists, dictionaries), computed once and then read from disk.

        Always as it is read from disk, so that a first run and a continued one go on with the same values.
        """
        began = time.monotonic()
        # A name is for people and may hold anything; the digest tells apart what is alike as a file's name.
        path = self.folder / PARTS / f"{slug(name)}-{_kept.digest(name)}.json"
        if path.exists():
            self.found.append(_kept.read(path)["seconds"])
        part = _kept.kept(path, lambda: {"value": compute(), "seconds": time.monotonic() - began})
        return part["value"]

    def finished_run(self, config: dict[str, Any], train: Callable[[Run], Any]) -> Run:
        """The run of a config in the store that all claims share: found, or trained here.

        `train` must finish the run. If another process is at it, that one is waited for.
        """
        while True:
            try:
                run = Store(self.runs).open(config)
                if not run.finished:
                    with run.working():
                        if not run.finished:
                            train(run)
                return run
            except BlockingIOError:
                self.tell(f"waiting for another claim to train {config.get('model', 'the same network')}", None)
                time.sleep(WAIT_S)
