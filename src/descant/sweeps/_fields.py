"""Fields of a point by dotted names (`task.noise`), checked against their types and filled in where left out."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

WORDS = {int: "a whole number", float: "a finite number", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Field:
    """What a field may be: its types, and its value where it is left out (`MISSING` if it has to be given)."""

    sorts: tuple[Any, ...]
    default: Any


@dataclass(frozen=True)
class Fields:
    """Sections (`task`, `model`, ...) and their fields, read off the dataclasses that hold them.

    **Arguments:** `sections` are dataclasses by the name of their section, which may be filled by several;
    `numbers_as_text` are fields of text that may be given as a number, which they then stay (a noise level, say, is an
    axis of numbers).
    """

    sections: Mapping[str, tuple[type, ...]]
    numbers_as_text: frozenset[str] = frozenset()

    @cached_property
    def known(self) -> dict[str, Field]:
        """All fields by their dotted names."""
        found = {}
        for section, parts in self.sections.items():
            for cls in parts:
                hints = get_type_hints(cls)
                for each in fields(cls):
                    name, hint = f"{section}.{each.name}", hints[each.name]
                    sorts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
                    found[name] = Field((float, *sorts) if name in self.numbers_as_text else sorts, each.default)
        return found

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """A whole point: the given fields, as their types have them, and defaults; a `ValueError` if that fails."""
        return read_fields(self.known, given)

    def part(self, point: Mapping[str, Any], section: str, cls: type[T]) -> T:
        """One of the dataclasses of a section, from a whole point."""
        values = {each.name: point[f"{section}.{each.name}"] for each in fields(cls)}  # pyright: ignore[reportArgumentType]
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = tuple(value)
            elif f"{section}.{name}" in self.numbers_as_text and isinstance(value, float):
                values[name] = repr(value)
        return cls(**values)


def read_fields(known: Mapping[str, Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """A whole point: the given fields, as their types have them, and defaults; a `ValueError` if one is not known."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"expected one of: {', '.join(known)}."
            raise ValueError(f"{name} is no field of a point; {hint}")
    found = {}
    for name, field in known.items():
        if name in given:
            found[name] = typed(name, given[name], field.sorts)
        elif field.default is MISSING:
            raise ValueError(f"{name} is left out; expected it under [{name.partition('.')[0]}] or among the axes.")
        else:
            found[name] = list(field.default) if isinstance(field.default, tuple) else field.default
    return found


def typed(name: str, value: Any, sorts: tuple[Any, ...]) -> Any:
    """A value as one of its types has it: 1 is 1.0 where a number may have a fraction."""
    for sort in sorts:
        if sort is float and type(value) in (int, float) and math.isfinite(value):
            return float(value)
        if type(value) is sort:
            return value
        if get_origin(sort) is tuple and isinstance(value, (list, tuple)):
            return [typed(f"{name}[{index}]", each, get_args(sort)[:1]) for index, each in enumerate(value)]
    words = [WORDS.get(sort, "a list of numbers") for sort in sorts if sort is not type(None)]
    raise ValueError(f"{name} is {value!r}; expected {' or '.join(dict.fromkeys(words))}.")
