"""What a training begins from: a kind of model with random weights, or a compiled program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ._config import ModelFlags, SolverFlags, StartFlags
from ._printing import in_words
from ._programs import settings_from

if TYPE_CHECKING:
    from ..attention import Kind
    from ..programs import FreeProgram
    from ..tasks import AbstractTask
    from ..training import Choice, References, Trainer

T = TypeVar("T")
Measured = dict[str, Any]
# The optimum of a class takes long in more dimensions than these.
MOST_DIMENSIONS = 12
# Adam on the numbers of a program: few of them, each in units of what it does to the answer.
STEPS, BATCH, LR = 1000, 512, 0.01


@dataclass(frozen=True)
class KindBeginning:
    """A kind of model, called `name` by whoever asked, and one of its models with random weights."""

    name: str
    kind: "Kind"
    options: ModelFlags
    task: "AbstractTask"
    start: Any
    digest: str = ""

    @classmethod
    def of(
        cls, model: str | None, options: ModelFlags, start: StartFlags, task: "AbstractTask", key: Any
    ) -> "KindBeginning":
        """Make the model; what can be refused is refused here."""
        import jax

        from ..attention import KINDS, check_saving

        if model is None:
            raise ValueError("no model is named; expected one, such as lsa, or a program: --from ridge.")
        if start != StartFlags():
            raise ValueError("--set and --free are for a program to start --from; leave them out.")
        kind = KINDS.get(model)
        _check_options(kind.name, kind.options, options)
        found = kind.made(task, key=jax.random.fold_in(key, 0), **vars(options))
        check_saving(found)
        return cls(model, kind, options, task, found)

    def choose(self, solver: str, objective: str) -> "Choice":
        """Which solver, and on which objective."""
        from ..training import choose

        return choose(self.start, self.task, solver, objective)

    def trainer(self, choice: "Choice", flags: SolverFlags, key: Any) -> "Trainer":
        """The training, not begun; members beside the first have other random weights."""
        import jax

        from ..training import make_trainer

        members = self.start
        if choice.record.many and flags.seeds > 1:
            keys = [jax.random.fold_in(key, 100 + index) for index in range(1, flags.seeds)]
            members = [self.start, *(self.kind.made(self.task, key=each, **vars(self.options)) for each in keys)]
        given = self.settings(choice, flags)
        return make_trainer(members, self.task, choice, key=jax.random.fold_in(key, 1), **given)

    def settings(self, choice: "Choice", flags: SolverFlags) -> dict[str, Any]:
        """What the flags are to the solver."""
        from ..training import RANDOM_STARTS

        # Members are models of their own; to the other solvers they are further starts.
        more = None if flags.seeds == 1 or choice.record.many else RANDOM_STARTS + flags.seeds - 1
        return choice.record.settings(steps=flags.steps, batch=flags.batch, lr=flags.lr, seeds=more)

    def references(self) -> "References":
        """What the display compares with."""
        from ..training import References

        return References.of(self.task, self.known_optimum())

    def outcome(self, model: Any, measure: Callable[[Any], Measured]) -> tuple[Any, Measured, Mapping[str, bytes]]:
        """The model to keep, and nothing beside it."""
        del measure
        return model, {}, {}

    def snapshot(self, model: Any) -> bytes:
        """The model along the way, for `descant explain --over-time`."""
        from ..attention import to_bytes

        return to_bytes(model)

    def known_optimum(self) -> float | None:
        """The least risk of the class, where theory knows it."""
        from ..measure import best, exact_risk

        kind, task = self.kind, self.task
        arguments = None if kind.optimum is None else kind.optimum(**kind.chosen(**vars(self.options)))
        if arguments is None or task.d > MOST_DIMENSIONS:
            return None
        return unless_unknown(lambda: exact_risk(best(task=task, **arguments), task))


@dataclass(frozen=True)
class ProgramBeginning:
    """A compiled program with free numbers; `digest` is that of its files."""

    name: str
    task: "AbstractTask"
    start: "FreeProgram"
    digest: str

    @classmethod
    def of(cls, model: str | None, options: ModelFlags, start: StartFlags, task: "AbstractTask") -> "ProgramBeginning":
        """Compile or load the program, and bind it to the task."""
        from .._sealed import digest
        from ..programs import free_program, starting_program

        if model is not None:
            raise ValueError(f"{model} is a kind of model, and --from a program to start from; leave one of them out.")
        _check_options("of a program", {"tied": False}, options)
        compiled = starting_program(str(start.source), settings_from([*start.set]), task.n, task.d)
        found = free_program(compiled, task, start.free, tied=bool(options.tied))
        name = compiled.description.program
        return cls(name, task, found, digest(b"".join(compiled.files().values())))

    def choose(self, solver: str, objective: str) -> "Choice":
        """Adam, or as asked."""
        from ..training import choose

        found = choose(self.start, self.task, "adam" if solver == "auto" else solver, objective)
        return found if solver != "auto" else replace(found, reason=f"{self.start.moved.size} numbers of a program")

    def trainer(self, choice: "Choice", flags: SolverFlags, key: Any) -> "Trainer":
        """The training, not begun; Adam in double precision, with steps that end at zero."""
        import jax
        import jax.numpy as jnp

        from ..training import make_trainer

        if flags.seeds != 1:
            raise ValueError("--seeds is for random weights, and a program has its own; leave it out.")
        given = choice.record.settings(steps=flags.steps, batch=flags.batch, lr=flags.lr)
        if choice.solver == "adam":
            usual = {"steps": STEPS, "batch": BATCH, "lr": LR, "schedule": "cosine", "dtype": jnp.float64}
            given = {**usual, **given}
        return make_trainer(self.start, self.task, choice, key=jax.random.fold_in(key, 1), **given)

    def references(self) -> "References":
        """What the display compares with."""
        from ..training import References

        return References.of(self.task)

    def snapshot(self, model: Any) -> bytes:
        """The program along the way, for `descant explain --over-time`."""
        from ..attention import to_bytes

        return to_bytes(model.settled().network)

    def outcome(self, model: Any, measure: Callable[[Any], Measured]) -> tuple[Any, Measured, Mapping[str, bytes]]:
        """The predictor to keep, what was and what changed, and the compiled program, for `descant run`."""
        from ..programs import ProgramPredictor, changes, described_again

        compiled = described_again(model.settled(), model.free)
        before = measure(ProgramPredictor.of(self.start.compiled))
        rows = [each.as_json() for each in changes(self.start, compiled)]
        started = {name: before[name] for name in ("risk", "standard_error", "method")}
        return ProgramPredictor.of(compiled), {"start": started, "changes": rows}, compiled.files()


def show_changes(result: dict[str, Any]) -> None:
    """What a training made of a program, as a table."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    started = result["start"]
    words = in_words(started["risk"], started["standard_error"], started["method"])
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("where", "what", "was"):
        table.add_column(column)
    for column in ("before", "after"):
        table.add_column(column, justify="right")
    for row in result["changes"]:
        cells = (row["where"], row["what"], row["name"], f"{row['before']:.4g}", f"{row['after']:.4g}")
        table.add_row(*map(Text, cells))
        if row["matrix"]:
            table.add_row("", Text(row["matrix"], style="dim"), "", "", "")
    console = Console()
    console.print(f"before training the risk was {words}; what changed:", highlight=False, soft_wrap=True)
    console.print(table)


def unless_unknown(ask: Callable[[], T]) -> T | None:
    """The answer, or None where nobody knows it."""
    from .._unknown import Unknown

    try:
        return ask()
    except Unknown:
        return None


def _check_options(name: str, known: Mapping[str, Any], options: ModelFlags) -> None:
    """Refuse flags that mean nothing to a kind of model, by the names that they have on the command line."""
    from ..attention import NEUTRAL

    for each, value in vars(options).items():
        if value is not None and each not in known and NEUTRAL.get(each) != value:
            flag = "query-attends" if each == "query_masked" else each
            flags = ", ".join(f"--{one.replace('_', '-')}" for one in known) or "none"
            raise ValueError(f"--{flag} means nothing to the model {name}; leave it out. It takes: {flags}.")
