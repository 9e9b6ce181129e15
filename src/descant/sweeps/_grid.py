"""The grid file: what all points have in common, and the axes along which they differ.

evaluator = "risk"                     # or train, or your own as module:name

[task]                                 # fields of all points, by section
d = 5
n = 10

[grid]                                 # every combination of these
model.heads = [1, 2, 3, 4, 5, 6]
task.prior_mean = { from = 0, to = 2, count = 41 }
task.noise = { from = 0.1, to = 10, count = 41, log = true }

[[zip]]                                # these go together, entry by entry: one more axis
task.d = [2, 4, 8]
task.n = [4, 8, 16]

[[points]]                             # and single points beside the grid
task.noise = 3.0
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_POINTS = 1_000_000
RANGE = ("from", "to", "count", "log")
TABLES = ("evaluator", "grid", "zip", "points")


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and their values: of one field, one value each."""

    fields: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    log: bool = False

    def entries(self) -> list[dict[str, Any]]:
        """The fields at each place of the axis."""
        return [dict(zip(self.fields, each, strict=True)) for each in self.values]


@dataclass(frozen=True)
class Grid:
    """A grid as it was asked for: which evaluator, what is common to all points, axes, and points beside them."""

    evaluator: str
    base: Mapping[str, Any]
    axes: tuple[Axis, ...]
    points: tuple[Mapping[str, Any], ...]

    @property
    def count(self) -> int:
        """How many points, the same ones counted twice."""
        return len(self.points) + (math.prod(len(axis.values) for axis in self.axes) if self.axes else 0)

    @property
    def varied(self) -> list[str]:
        """The fields in which points may differ, in the order of the file."""
        of_axes = (field for axis in self.axes for field in axis.fields)
        return list(dict.fromkeys([*of_axes, *(field for point in self.points for field in point)]))

    def expanded(self) -> Iterator[dict[str, Any]]:
        """Every point's own fields over those of all: the grid's, the last axis fastest, then the single ones."""
        if self.axes or not self.points:
            for entries in itertools.product(*(axis.entries() for axis in self.axes)):
                yield {**self.base, **{name: value for entry in entries for name, value in entry.items()}}
        for point in self.points:
            yield {**self.base, **point}


def read_grid(path: Path) -> Grid:
    """The grid in a TOML file; a `ValueError` names what is wrong with it."""
    try:
        raw = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no TOML file: {error}.") from None
    try:
        return as_grid(raw)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def as_grid(raw: Mapping[str, Any]) -> Grid:
    """The grid that the tables of a file describe."""
    sections = {name: value for name, value in raw.items() if name not in TABLES}
    for name, value in sections.items():
        if not isinstance(value, dict):
            raise ValueError(f"{name} is {value!r}; expected sections such as [task], and {', '.join(TABLES)}.")
    evaluator = raw.get("evaluator", "train" if "training" in sections else "risk")
    if not isinstance(evaluator, str):
        raise ValueError(f"evaluator is {evaluator!r}; expected its name, or your own as module:name.")
    base = dict(_flat(sections))
    axes = [_axis(name, value) for name, value in _flat(_table(raw, "grid"))]
    axes += [_together(index, each) for index, each in enumerate(_tables(raw, "zip"))]
    grid = Grid(evaluator, base, tuple(axes), tuple(dict(_flat(each)) for each in _tables(raw, "points")))
    taken: set[str] = set()
    for field in (field for axis in axes for field in axis.fields):
        if field in taken:
            raise ValueError(f"{field} is on two axes; expected each field on one.")
        taken.add(field)
    if grid.count > MOST_POINTS:
        raise ValueError(f"the grid has {grid.count} points; expected at most {MOST_POINTS}: take fewer at a time.")
    return grid


def _table(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = raw.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(f"{name} is {found!r}; expected a table, [{name}].")
    return found


def _tables(raw: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = raw.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{name} is {found!r}; expected tables, each beginning with [[{name}]].")
    return found


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by their dotted names; a table with from and to in it is a range, not a section."""
    for name, value in tables.items():
        if isinstance(value, dict) and not set(RANGE) & set(value):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _axis(name: str, value: Any) -> Axis:
    values = _values(name, value)
    return Axis((name,), tuple((each,) for each in values), isinstance(value, dict) and bool(value.get("log")))


def _together(index: int, raw: Mapping[str, Any]) -> Axis:
    columns = {name: _values(name, value) for name, value in _flat(raw)}
    lengths = {name: len(values) for name, values in columns.items()}
    if not columns:
        raise ValueError(f"zip {index + 1} is empty; expected fields with lists of the same length.")
    if len(set(lengths.values())) > 1:
        words = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"zip {index + 1} has lists of different lengths: {words}; expected the same of all.")
    log = any(isinstance(value, dict) and bool(value.get("log")) for _, value in _flat(raw))
    return Axis(tuple(columns), tuple(zip(*columns.values(), strict=True)), log)


def _values(name: str, value: Any) -> list[Any]:
    """The values of an axis: a list as it is, or a range written out."""
    if isinstance(value, dict):
        return _range(name, value)
    if not isinstance(value, list):
        raise ValueError(f"{name} is {value!r}; expected a list, or a range such as {{from = 0, to = 1, count = 11}}.")
    if not value:
        raise ValueError(f"{name} is an empty list; expected at least one value.")
    return value


def _range(name: str, raw: Mapping[str, Any]) -> list[float]:
    asked = f"{name} is a range"
    if set(raw) - set(RANGE) or not {"from", "to", "count"} <= set(raw):
        raise ValueError(f"{asked} of {', '.join(raw)}; expected from, to, count, and perhaps log.")
    first, last, count, log = raw["from"], raw["to"], raw["count"], raw.get("log", False)
    for end in (first, last):
        if type(end) not in (int, float) or not math.isfinite(end):
            raise ValueError(f"{asked} with the end {end!r}; expected a finite number.")
    if type(count) is not int or not 1 <= count <= MOST_POINTS:
        raise ValueError(f"{asked} with count = {count!r}; expected a whole number from 1 to {MOST_POINTS}.")
    if type(log) is not bool:
        raise ValueError(f"{asked} with log = {log!r}; expected true or false.")
    if log and (first <= 0 or last <= 0):
        raise ValueError(f"{asked} from {first} to {last} with log = true; expected positive ends.")
    if count == 1:
        if first != last:
            raise ValueError(f"{asked} from {first} to {last} with count = 1; expected at least 2.")
        return [first]
    shares = [index / (count - 1) for index in range(count)]
    if log:
        inner = [first * (last / first) ** share for share in shares[1:-1]]
    else:
        inner = [first + (last - first) * share for share in shares[1:-1]]
    whole = not log and type(first) is type(last) is int and (last - first) % (count - 1) == 0
    # The ends as they are written, not as rounding leaves them.
    return [first, *(round(each) if whole else each for each in inner), last]
