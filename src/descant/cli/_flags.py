"""Flags that several commands have, and how their values are read and their defaults shown."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, Token
from cyclopts.validators import mutually_exclusive

# The help of a command has its flags in these groups, in this order.
TASK = Group("The task", sort_key=1)
MODEL = Group("The model", sort_key=2)
SOLVER = Group("The solver", sort_key=3)
OTHERS = Group("Parameters", sort_key=4)
COVARIANCE = Group("input covariance", show=False, validator=mutually_exclusive)

Json = Annotated[bool, Parameter(negative="", help="Print one JSON object instead of tables and sentences.")]
Force = Annotated[bool, Parameter(negative="")]
Root = Annotated[
    Path | None,
    Parameter(help="Folder of the runs; left out, the one in the environment variable DESCANT_RUNS, else ./runs."),
]


def default_shown(value: Any) -> str | None:
    """A default as the help shows it; of what is off, empty or left out there is nothing to say."""
    if value is None or value is False or value == ():
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)


# What all commands do with defaults. Groups of commands have it too: the page of the commands asks each by itself.
DEFAULTS_SHOWN = Parameter(negative_iterable="", show_default=default_shown)


def read_location(hint: Any, tokens: Sequence[Token]) -> float | tuple[float, ...]:
    """One number, or several."""
    del hint
    numbers = read_numbers(tokens[0].value)
    return numbers[0] if len(numbers) == 1 else numbers


def read_spectrum(hint: Any, tokens: Sequence[Token]) -> str | tuple[float, ...]:
    """A law of eigenvalues such as power:1.5, kept as text, or numbers."""
    del hint
    text = tokens[0].value
    return text if text.startswith("power:") else read_numbers(text, ", no power:1.5")


def read_numbers(text: str, nor: str = "") -> tuple[float, ...]:
    """Numbers with commas between them, or those in a file: what is kept is the numbers, not the path."""
    read = READERS.get(Path(text).suffix)
    try:
        numbers = tuple(map(float, text.split(",") if read is None else read(Path(text))))
    except Exception as error:  # whatever the readers of foreign files raise
        if read is None:
            raise ValueError(
                f"{text!r} is no number{nor}, no numbers such as 1,0,-1, and no file of them (.txt, .json or .npy)."
            ) from None
        raise ValueError(f"{text!r} can't be read as a file of numbers: {error}.") from None
    if not numbers:
        raise ValueError(f"{text!r} holds no numbers; expected one, or d of them.")
    return numbers


def _of_text(path: Path) -> list[str]:
    return path.read_text().replace(",", " ").split()


def _of_json(path: Path) -> list[Any]:
    found = json.loads(path.read_text())
    if not isinstance(found, list) or any(isinstance(each, (bool, str)) for each in found):
        raise ValueError("expected a list of numbers")
    return found


def _of_array(path: Path) -> list[float]:
    import numpy as np

    # Mapped, not read: a header may claim more than the file, or the memory, has.
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError("expected one array of real numbers in a row")
    return array.tolist()


READERS = {".txt": _of_text, ".json": _of_json, ".npy": _of_array}


def _numbers(read: Callable[..., Any], **more: Any) -> Parameter:
    return Parameter(converter=read, n_tokens=1, allow_repeating=False, allow_leading_hyphen=True, **more)


AS_LOCATION = _numbers(read_location, metavar="NUMBERS")
AS_SPECTRUM = _numbers(read_spectrum, metavar="LAW", group=(TASK, COVARIANCE))
