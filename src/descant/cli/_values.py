"""What every value on the command line must be, whichever the command: looked at before it becomes a number."""

import math
from pathlib import Path
from typing import Any, get_args

from cyclopts import UNSET

# JAX and NumPy count with 64 bits.
LARGEST = 2**63 - 1


def check_values(app: Any, commands: Any, arguments: Any) -> None:
    """Refuse what would be read as something else (1.5 as 2), and what nothing can be computed with (nan, inf).

    Cyclopts calls it for every command, between reading words and making values of them.
    """
    del app, commands
    for argument in arguments:
        for token in argument.tokens:
            if token.implicit_value is UNSET:
                # What has a reader of its own is looked at by that.
                own = argument.parameter.converter is not None
                _check(argument.name, token.value, () if own else get_args(argument.hint) or (argument.hint,))


def _check(name: str, text: str, sorts: tuple[Any, ...]) -> None:
    if "\0" in text:
        raise ValueError(f"{name} is {text!r}; expected no NUL in it.")
    if int in sorts:
        _whole(name, text)
    elif float in sorts:
        _finite(name, text)
    elif Path in sorts and not text:
        raise ValueError(f"{name} is empty; expected a path.")


def _whole(name: str, text: str) -> None:
    try:
        value = int(text) if text.isascii() else None
    except ValueError:
        value = None
    if value is None:
        raise ValueError(f"{name} is {text!r}; expected a whole number, such as 12.")
    if name == "--seed" and value < 0:
        raise ValueError(f"{name} is {text}; expected a whole number of at least 0.")
    if abs(value) > LARGEST:
        raise ValueError(f"{name} is {text}; expected a whole number of at most 64 bits.")


def _finite(name: str, text: str) -> None:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}; expected a number, such as 0.5.") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} is {text}; expected a finite number.")
