"""The axes of a sweep as its table has them: which fields change together, and where on an axis a point is."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from ..figures import Axis

# How much the steps of a geometric axis may differ from each other.
EVEN = 0.05


@dataclass(frozen=True)
class Direction:
    """An axis: fields that change together, and the places that points have on it, in order."""

    fields: tuple[str, ...]
    places: tuple[tuple[Any, ...], ...]
    log: bool = False

    @property
    def varying(self) -> list[int]:
        """Which of the fields differ between places."""
        return [index for index in range(len(self.fields)) if len({_key(place[index]) for place in self.places}) > 1]

    @property
    def numbers(self) -> list[float] | None:
        """A number for every place, all different, of the first field that has such; None if places are words."""
        if any(not _number(place[index]) for place in self.places for index in self.varying):
            return None
        for index in self.varying:
            found = [float(place[index]) for place in self.places]
            if len(set(found)) == len(found):
                return found
        return None

    @property
    def label(self) -> str:
        """What stands beside the axis."""
        if self.numbers is not None:
            own = [index for index in self.varying if len({place[index] for place in self.places}) == len(self.places)]
            return words(self.fields[own[0]])
        return ", ".join(words(self.fields[index]) for index in self.varying or range(len(self.fields)))

    def text(self, place: tuple[Any, ...]) -> str:
        """A place in words."""
        return ", ".join(told(place[index]) for index in self.varying or range(len(self.fields)))

    def drawn(self, log: bool | None = None) -> tuple[Axis, list[float]]:
        """The axis of a figure, and where on it the places are."""
        numbers = self.numbers
        if numbers is None:
            positions = [float(index) for index in range(len(self.places))]
            ticks = tuple(zip(positions, map(self.text, self.places), strict=True))
            return Axis(self.label, ticks=ticks), positions
        positive = min(numbers) > 0
        return Axis(self.label, log=positive and (self.log or _geometric(numbers) if log is None else log)), numbers


def directions(table: pa.Table, about: Mapping[str, Any]) -> list[Direction]:
    """All axes along which there is more than one place, in the order of the grid file."""
    names = table.column_names
    varied = names[names.index("address") + 1 : names.index("status")]
    groups = [(tuple(axis["fields"]), bool(axis["log"])) for axis in about["axes"]]
    of_axes = {field for fields, _ in groups for field in fields}
    groups += [((field,), False) for field in varied if field not in of_axes]
    found = []
    for fields, log in groups:
        columns = [table[field].to_pylist() for field in fields]
        places = {tuple(map(_key, place)): place for place in zip(*columns, strict=True)}
        each = Direction(fields, tuple(places.values()), log)
        if len(places) > 1:
            numbers = each.numbers
            order = sorted(range(len(places)), key=numbers.__getitem__) if numbers else range(len(places))
            found.append(Direction(fields, tuple(each.places[index] for index in order), log))
    return found


def find(name: str, flag: str, among: Sequence[Direction]) -> Direction:
    """The axis with a field of this name, whole or without its section; a `ValueError` names what there is."""
    found = [each for each in among if name in each.fields]
    found = found or [each for each in among if name in [field.rpartition(".")[2] for field in each.fields]]
    if len(found) != 1:
        there = ", ".join(field for each in among for field in each.fields) or "none"
        what = "is on several axes" if found else "is no axis of this sweep, or is in use already"
        raise ValueError(f"{flag} is {name!r}, which {what}; expected one of: {there}.")
    return found[0]


def where(direction: Direction, text: str) -> tuple[Any, ...]:
    """The place that a text stands for, a number or words; a `ValueError` names those there are."""
    for place in direction.places:
        for index, value in enumerate(place):
            if _number(value) and _as_number(text) is not None and math.isclose(value, _as_number(text) or 0.0):
                return place
            if text in (told(value), direction.text(place)) and index in (direction.varying or [0]):
                return place
    there = "; ".join(map(direction.text, direction.places[:12])) + (" ..." if len(direction.places) > 12 else "")
    raise ValueError(f"--where {direction.fields[0]}={text} is no place on that axis; expected one of: {there}.")


def words(field: str) -> str:
    """A field without its section.

    >>> words("task.prior_mean")
    'prior mean'
    """
    return field.rpartition(".")[2].replace("_", " ")


def told(value: Any) -> str:
    """A value as a label has it."""
    if isinstance(value, str) and value[:1] in ('"', "[", "{"):  # of a column of mixed types
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "(" + ", ".join(map(told, value)) + ")"
    return "none" if value is None else str(value)


def _key(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _geometric(numbers: Sequence[float]) -> bool:
    """Whether places are evenly spaced by ratio, over more than a factor of four."""
    steps = [right / left for left, right in pairwise(numbers)] if min(numbers) > 0 else []
    return len(steps) > 1 and max(steps) < (1 + EVEN) * min(steps) and numbers[-1] > 4 * numbers[0]
