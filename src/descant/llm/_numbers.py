"""Wordings of linear regression in text, as data: `numbers.toml` beside this file."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .._names import file_name

HERE = Path(__file__).parent / "numbers.toml"


@dataclass(frozen=True)
class NumberTemplate:
    """One wording; `numbers.toml` says what the parts are."""

    name: str
    head: str
    point: str
    join: str
    guess: str
    score: str
    end: str
    chat: str
    digits: int = 1

    def __post_init__(self):
        file_name("name of a wording", self.name)

    @property
    def example(self) -> str:
        """Some stem, for seeing where a tokenizer cuts it."""
        return self.stem((4.2, 6.1), 5.3)

    def write(self, score: float) -> str:
        """A number as it stands in the prompt."""
        return f"{score:.{self.digits}f}"

    def stem(self, x: Sequence[float], guess: float | None) -> str:
        """A point up to where its label stands."""
        shown = "" if guess is None else self.guess.replace("{guess}", self.write(guess))
        return self.point.replace("{x}", self.join.join(map(self.write, x))) + shown + self.score


@lru_cache
def number_templates() -> dict[str, NumberTemplate]:
    """All wordings.

    >>> list(number_templates())[:3]
    ['plain', 'named', 'object']
    """
    tables = tomllib.loads(HERE.read_text(encoding="utf-8"))
    return {name: NumberTemplate(name, **table) for name, table in tables.items()}


def find_number_templates(names: str) -> tuple[NumberTemplate, ...]:
    """Some wordings, with commas between their names."""
    known = number_templates()
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown or len(set(wanted)) != len(wanted):
        raise ValueError(f"template is {names!r}; expected some of: {', '.join(known)}, each once.")
    return tuple(known[name] for name in wanted)
