"""What a page may ask for, read field by field: every value has a type and bounds, and anything else is a sentence."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


class Fields:
    """The fields of one object that came as JSON; `done` refuses those that nobody asked for.

    >>> fields = Fields({"d": 5}, "task")
    >>> fields.whole("d", 1, 12), fields.number("noise", 0.0, 10.0, default=0.5)
    (5, 0.5)
    """

    def __init__(self, raw: Any, name: str):
        if not isinstance(raw, Mapping):
            raise ValueError(f"{name} is {_short(raw)}; expected an object of named values.")
        self._raw, self._name, self._read = raw, name, set()

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number within bounds."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} is {_short(value)}; expected a whole number from {low} to {high}.")
        return value

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """A number within bounds."""
        value = self._value(name, default)
        sound = not isinstance(value, bool) and isinstance(value, int | float)
        # Bounds first: of a whole number of hundreds of digits no float can be made.
        if not sound or not low <= value <= high or not math.isfinite(value):
            raise ValueError(f"{name} is {_short(value)}; expected a number from {low:g} to {high:g}.")
        return float(value)

    def numbers(self, name: str, low: float, high: float, most: int) -> tuple[float, ...]:
        """From one to `most` numbers within bounds."""
        value = self._value(name, None)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            raise ValueError(f"{name} is {_short(value)}; expected a list of 1 to {most} numbers.")
        return tuple(Fields({name: each}, self._name).number(name, low, high) for each in value)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of some words."""
        value = self._value(name, default)
        if value not in choices:
            raise ValueError(f"{name} is {_short(value)}; expected one of {', '.join(choices)}.")
        return value

    def switch(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {_short(value)}; expected true or false.")
        return value

    def text(self, name: str, most: int, default: str | None = None) -> str:
        """A text of bounded length."""
        value = self._value(name, default)
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"{name} is {_short(value)}; expected a text of at most {most} letters.")
        return value

    def part(self, name: str) -> Any:
        """Another object, or a list, for others to read."""
        return self._value(name, None)

    def has(self, name: str) -> bool:
        """Whether a field is there at all."""
        return name in self._raw

    def done(self) -> None:
        """Refuse fields that nobody has read: a misspelt one would be left out silently."""
        odd = sorted(str(name) for name in set(self._raw) - self._read)
        if odd:
            raise ValueError(f"{self._name} has {_short(odd[0])}, which means nothing here; leave it out.")

    def _value(self, name: str, default: Any) -> Any:
        self._read.add(name)
        value = self._raw.get(name, default)
        if value is None:
            raise ValueError(f"{name} is missing; expected a value.")
        return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
