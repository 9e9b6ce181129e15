"""What a program takes: matrices with symbolic sizes, and scalars known when compiling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import Position, ProgramError
from ._limits import check_shape
from ._scalars import kind, names_in, size_of

SIZES_ADVICE = 'write two sizes, such as X: "n d" or y: "n 1"'


@dataclass(frozen=True)
class Parameter:
    """A matrix that is handed in. An optional one starts at zero unless it is given."""

    name: str
    rows: str
    columns: str
    optional: bool = False
    position: Position | None = None

    @classmethod
    def read(cls, name: str, sizes: Any, optional: bool, position: Position | None = None) -> "Parameter":
        """From the text of its annotation."""
        if not isinstance(sizes, str):
            raise ProgramError(f"the parameter {name} has no sizes", SIZES_ADVICE, position)
        words = sizes.strip("\"'").split()
        if len(words) != 2:
            raise ProgramError(f"the parameter {name} has the sizes {sizes!r}", SIZES_ADVICE, position)
        for word in words:
            names_in(word)
        return cls(name, words[0], words[1], optional, position)


@dataclass(frozen=True)
class Signature:
    """Matrices in order, and the scalars with their defaults."""

    name: str
    parameters: tuple[Parameter, ...]
    scalars: Mapping[str, Any]

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        letters = self.letters()
        for index, parameter in enumerate(self.parameters):
            if parameter.name in (*names[:index], *self.scalars):
                reason = f"two parameters are called {parameter.name}"
            elif parameter.name in letters:
                reason = f"{parameter.name} is a matrix, and a size of another one"
            else:
                continue
            raise ProgramError(reason, "rename one of them", parameter.position)

    def check_rebound(self, name: str, position: Position | None = None) -> None:
        """Refuse to give another value to a size."""
        if name in self.letters():
            raise ProgramError(f"{name} is a size of the program, and is given another value", "rename it", position)

    def letters(self) -> list[str]:
        """Size letters that are not scalars themselves, in order of appearance."""
        found: dict[str, None] = {}
        for parameter in self.parameters:
            for size in (parameter.rows, parameter.columns):
                found |= dict.fromkeys(name for name in names_in(size) if name not in self.scalars)
        return list(found)

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Sizes and scalars: what was given, the defaults for the rest."""
        letters = self.letters()
        for name, value in given.items():
            if name not in letters and name not in self.scalars:
                known = ", ".join([*letters, *self.scalars]) or "none"
                raise ProgramError(f"{self.name} has no size and no scalar {name}", f"it has: {known}")
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ProgramError(f"{name} is {value!r}", "expected a number")
            if name in letters and (not isinstance(value, int) or value < 1):
                raise ProgramError(f"the size {name} is {kind(value)}", "expected a whole number of at least 1")
        missing = [name for name in letters if name not in given]
        if missing:
            example = " ".join(f"{name}=5" for name in missing)
            raise ProgramError(
                f"{self.name} needs the size{'s' * (len(missing) > 1)} {', '.join(missing)}",
                f"give a value, for example --set {example}",
            )
        return {**self.scalars, **{k: v.item() if isinstance(v, np.generic) else v for k, v in given.items()}}

    def shape(self, parameter: Parameter, settings: Mapping[str, Any]) -> tuple[int, int]:
        """The shape of a parameter."""
        try:
            shape = size_of(parameter.rows, settings), size_of(parameter.columns, settings)
            check_shape(shape)
            return shape
        except ProgramError as error:
            raise error.located(parameter.position, self.name) from None
