"""From a grid to the work that is left: points with their addresses, in groups that one program serves."""

import hashlib
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .._code import code_digest
from .._plain import plain
from .._sealed import canonical, digest
from ._evaluator import Evaluator
from ._grid import Grid

LENGTH = 24
# Rooms whose code no point depends on.
WITHOUT = ("claims", "crosscheck", "figures", "llm", "report", "sweeps")


@dataclass(frozen=True)
class Job:
    """Points of one shape that a worker does at once; it travels. `code` is what it must compute with."""

    evaluator: str
    code: str
    points: tuple[Mapping[str, Any], ...]
    addresses: tuple[str, ...]

    def alone(self) -> "list[Job]":
        """Its points, each a job of its own."""
        each = zip(self.points, self.addresses, strict=True)
        return [Job(self.evaluator, self.code, (point,), (address,)) for point, address in each]


@dataclass(frozen=True)
class Plan:
    """All points of a grid, whole and without repetition, by their addresses."""

    grid: Grid
    evaluator: Evaluator
    code: str
    points: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Addresses by shape, in the order of the grid."""
        found: dict[str, list[str]] = {}
        for address, point in self.points.items():
            found.setdefault(self.evaluator.shape(point), []).append(address)
        return found

    def jobs(self, without: Container[str] = ()) -> list[Job]:
        """The work on points that are not among these."""
        jobs = []
        for addresses in self.groups.values():
            left = [address for address in addresses if address not in without]
            for start in range(0, len(left), self.evaluator.together):
                some = tuple(left[start : start + self.evaluator.together])
                points = tuple(self.points[address] for address in some)
                jobs.append(Job(self.evaluator.reference, self.code, points, some))
        return jobs


def code_of(evaluator: str) -> str:
    """A fingerprint of the code that answers: this package's, and the file of an evaluator that is not in it."""
    ours = code_digest(without=WITHOUT)
    module = sys.modules.get(evaluator.partition(":")[0])
    file = getattr(module, "__file__", None)
    if module is None or file is None or module.__name__.startswith("descant."):
        return ours[:LENGTH]
    return hashlib.sha256(ours.encode() + b"\0" + Path(file).read_bytes()).hexdigest()[:LENGTH]


def make_plan(grid: Grid, evaluator: Evaluator) -> Plan:
    """Every point of a grid, whole: a `ValueError` names a field that is unknown, or not of its type."""
    code, points = code_of(evaluator.reference), {}
    for given in grid.expanded():
        point = plain("point", evaluator.completed(given))
        points[address_of(evaluator.reference, code, point)] = point
    return Plan(grid, evaluator, code, points)


def address_of(evaluator: str, code: str, point: Mapping[str, Any]) -> str:
    """The name of a point's outcome: the same point, question and code have the same, in whichever grid."""
    return digest(canonical([evaluator, code, point]))[:LENGTH]
