"""What a compiled network is, in words and numbers: kept with its weights, in JSON on disk."""

import dataclasses
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from .._sealed import sealed

FORMAT = "descant-program-1"


@dataclass(frozen=True)
class Rectangle:
    """A named value in H: from the first row down, from `column` on. An input that nobody reads has the column -1."""

    name: str
    rows: int
    width: int
    column: int
    optional: bool = False


@dataclass(frozen=True)
class HeadText:
    """One head in words: what its three factors read, and what it writes."""

    query: str
    key: str
    value: str
    writes: str
    formula: str
    reads: tuple[str, ...] = ()
    writes_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockText:
    """One block in words: what lives where before and after it, and its heads."""

    before: tuple[Rectangle, ...]
    after: tuple[Rectangle, ...]
    heads: tuple[HeadText, ...]

    @property
    def places(self) -> tuple[Rectangle, ...]:
        """All that lives before or after it."""
        return self.before + self.after


@dataclass(frozen=True)
class Description:
    """A compiled program: its name and settings, the size of H, where inputs and outputs are, every block in words.

    `inputs` and `outputs` are rectangles of H before the first and after the last block; `blocks` has each block once.
    """

    program: str
    settings: tuple[tuple[str, float], ...]
    rows: int
    columns: int
    inputs: tuple[Rectangle, ...]
    outputs: tuple[Rectangle, ...]
    blocks: tuple[BlockText, ...]

    def as_json(self, digest: str) -> str:
        """For disk, with the digest of the weights it belongs to."""
        return sealed("program", {"format": FORMAT, "weights": digest, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, value: Any) -> "tuple[Description, str]":
        """Read back; anything unexpected is a `ValueError` that says what and where."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise ValueError(f"the format is not {FORMAT!r}; it was saved by another version, or is no program.")
        left = {name: item for name, item in value.items() if name not in ("format", "weights")}
        if not isinstance(value.get("weights"), str):
            raise ValueError("weights is no digest.")
        return _decoded(cls, left, "program"), value["weights"]


def _decoded(kind: Any, value: Any, where: str) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        fields = {field.name: field.type for field in dataclasses.fields(kind)}
        if not isinstance(value, dict) or set(value) != set(fields):
            raise ValueError(f"{where} is no {kind.__name__}.")
        return kind(**{name: _decoded(fields[name], value[name], f"{where}.{name}") for name in fields})  # type: ignore
    if get_origin(kind) is tuple:
        members = get_args(kind)
        if not isinstance(value, list) or (members[-1] is not Ellipsis and len(value) != len(members)):
            raise ValueError(f"{where} is no list of the right length.")
        kinds = [members[0]] * len(value) if members[-1] is Ellipsis else members
        return tuple(
            _decoded(each, item, f"{where}[{i}]") for i, (each, item) in enumerate(zip(kinds, value, strict=True))
        )
    expected = (int, float) if kind is float else (kind,)
    if type(value) not in expected:
        raise ValueError(f"{where} is {value!r}, which is not of its type.")
    return value
