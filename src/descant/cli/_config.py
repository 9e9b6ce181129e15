"""All that a training was asked for, as one frozen record; a run's config.json is its JSON."""

from dataclasses import asdict, dataclass, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from ._flags import MODEL, SOLVER
from ._task import TaskFlags

T = TypeVar("T")


@Parameter(group=MODEL)
@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Options of the model; which a kind has, and their defaults, `descant models` lists."""

    layers: int | None = None
    "Layers of the model."
    heads: int | None = None
    "Heads of each layer."
    tied: Annotated[bool | None, Parameter(negative="")] = None
    "Give all layers the same weights."
    query_masked: Annotated[bool | None, Parameter(negative="--query-attends")] = None
    "Whether the query's own token is left out of the keys and values."
    mlp: str | None = None
    "What follows attention: relu, gelu, or none."
    causal: Annotated[bool | None, Parameter(negative="")] = None
    "Let tokens attend to earlier ones only."


@Parameter(group=SOLVER)
@dataclass(frozen=True, kw_only=True)
class SolverFlags:
    """Settings of the solver; which it takes, `descant models` lists."""

    steps: int | None = None
    "Steps of adam (5000), or refining steps of lm (100)."
    batch: int | None = None
    "Fresh contexts per step of adam (2048)."
    lr: float | None = None
    "Step size of adam (0.001)."
    seeds: int = 1
    "Members trained at once by adam; starts of the other solvers beside those they have anyway."


@Parameter(group=MODEL)
@dataclass(frozen=True, kw_only=True)
class StartFlags:
    """A program to start from, in the place of a kind of model with random weights."""

    source: Annotated[str | None, Parameter(name="--from", metavar="PROGRAM")] = None
    "Start from a matrix program: its name in the library, its file, or a folder of `descant compile --out`."
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=(1, None), metavar="NAME=NUMBER...")] = ()
    "Scalars of that program: --set eta=0.05 T=4. Its n and d are those of the task."
    free: str = "coefficients"
    "What of it is trained: coefficients (its numbers), matrices (constant matrices too), or all weights."


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training: a kind of model, or a program to start from, a task, and how the one is fitted to the other.

    `digest` is that of the program's network, so that a run is another when the program is.
    """

    model: str
    options: ModelFlags
    task: TaskFlags
    solver: str
    objective: str
    settings: SolverFlags
    seed: int
    samples: int
    start: StartFlags = StartFlags()
    digest: str = ""

    def to_json(self) -> dict[str, Any]:
        """The record as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Any) -> "TrainConfig":
        """The record that `to_json` wrote; a `ValueError` that names the field if this is not one."""
        return _typed(cls, raw, "config")


def _typed(cls: type[T], raw: Any, where: str) -> T:
    """A dataclass from plain values, its fields checked against their types."""
    names = {field.name for field in fields(cls)}  # pyright: ignore[reportArgumentType]
    if not isinstance(raw, dict) or set(raw) != names:
        odd = sorted(set(raw) ^ names) if isinstance(raw, dict) else [repr(raw)]
        raise ValueError(f"{where} lacks, or has too many: {', '.join(odd)}; it was not written by this version.")
    hints = get_type_hints(cls)
    return cls(**{name: _value(hints[name], raw[name], f"{where}.{name}") for name in names})


def _value(kind: Any, raw: Any, where: str) -> Any:
    if is_dataclass(kind):
        return _typed(kind, raw, where)  # pyright: ignore[reportArgumentType]
    for member in get_args(kind) if isinstance(kind, UnionType) else (kind,):
        if type(raw) is member:
            return raw
        if member is float and type(raw) is int:
            return float(raw)
        if get_origin(member) is tuple and type(raw) in (list, tuple):
            return tuple(_value(get_args(member)[0], each, f"{where}[{index}]") for index, each in enumerate(raw))
    raise ValueError(f"{where} is {raw!r}, which is not of its type; it was not written by this version.")
