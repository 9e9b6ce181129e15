"""What a training in the browser is asked for, and the least that its class can reach."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from .._unknown import Unknown
from ..attention import KINDS
from ..measure import best, risk
from ..tasks import AbstractTask
from ._fields import Fields
from ._task import IMPORTS, Task

# What may be picked, and which of the counts each has.
MODELS = {
    "lsa": ("heads",),
    "yq-lsa": ("heads",),
    "ltb": (),
    "gd++": ("layers",),
    "diag": ("layers", "heads"),
    "full": ("layers", "heads"),
    "softmax": ("layers",),
}
MOST_LAYERS, MOST_HEADS = 6, 8
SOLVERS = ("adam", "auto")
# Dimensions of the tasks that are trained on while somebody waits.
MOST_D = 8
MOST_STEPS, MOST_BATCH = 20_000, 4096
# Steps between two looks.
CHUNK = 10
# Contexts that tell a risk without a closed form: on the way, and at the end.
LOOK, SAMPLES = 2048, 16_384


@dataclass(frozen=True)
class Training:
    """What a training was asked for; the same request ends in the same model."""

    task: Task
    model: str
    layers: int
    heads: int
    solver: str
    steps: int
    batch: int
    lr: float
    seed: int

    @classmethod
    def read(cls, raw: Any) -> "Training":
        """The training of a request."""
        fields = Fields(raw, "the training")
        found = cls(
            task=Task.read(fields.part("task"), MOST_D),
            model=fields.choice("model", tuple(MODELS)),
            layers=fields.whole("layers", 1, MOST_LAYERS, 1),
            heads=fields.whole("heads", 1, MOST_HEADS, 1),
            solver=fields.choice("solver", SOLVERS, "adam"),
            steps=fields.whole("steps", CHUNK, MOST_STEPS, 1500),
            batch=fields.whole("batch", 8, MOST_BATCH, 256),
            lr=fields.number("lr", 1e-5, 1.0, 0.02),
            seed=fields.whole("seed", 0, 2**31 - 1, 0),
        )
        fields.done()
        return found

    @property
    def options(self) -> dict[str, int]:
        """Those of the counts that the kind has."""
        return {name: getattr(self, name) for name in MODELS[self.model]}

    @property
    def settings(self) -> dict[str, Any]:
        """What Adam is told; other solvers need nothing."""
        if self.solver != "adam":
            return {}
        # Whole chunks: another length would be another program to compile.
        steps = CHUNK * round(self.steps / CHUNK)
        more = {"schedule": "cosine", "dtype": jnp.float64, "chunk": CHUNK, "clip": 10.0}
        return {"steps": steps, "batch": self.batch, "lr": self.lr, **more}

    def _best(self) -> dict[str, Any] | None:
        """What `best` is asked for to find the least of the class; None where theory doesn't know it."""
        kind = KINDS.get(self.model)
        return None if kind.optimum is None else kind.optimum(**kind.chosen(**self.options))

    def optimum(self, task: AbstractTask) -> float | None:
        """The least risk of the class on a task, where theory knows it."""
        arguments = self._best()
        return None if arguments is None else known_risk(lambda: best(task=task, **arguments), task)

    def best_python(self) -> str:
        """The expression that is the best of the class on `task`; empty where there is none."""
        arguments = self._best()
        if arguments is None:
            return ""
        return f"best(task=task, {', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    def python(self) -> str:
        """The program that ends in the same model."""
        return f"""{self._begin("train")}
trained = train(
    start,
    task,
    solver="{self.solver}",
    key=key,
    samples={SAMPLES},
{self._told()})
print(trained.risk, trained.stopped)
"""

    def curve_python(self) -> str:
        """The program that trains it step by step, and looks at its risk along the way."""
        return f"""{self._begin("choose, make_trainer")}
trainer = make_trainer(
    start,
    task,
    choose(start, task, "{self.solver}"),
    key=jax.random.fold_in(key, 0),
{self._told()})
state, curve = trainer.init(), [(0, risk(start, task, samples={LOOK}))]
while not trainer.finished(state):
    state, rows = trainer.advance(state)
    at = rows[-1].get("step", len(curve)) if rows else len(curve)
    curve.append((at, risk(trainer.model(state), task, samples={LOOK})))
"""

    def _begin(self, names: str) -> str:
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"""import jax
import jax.numpy as jnp
{IMPORTS}from descant import Unknown, best, risk
from descant.attention import make_model
from descant.figures import Axis, Baseline, Figure, Panel, Series
from descant.training import {names}

task = {self.task.python()}
key = jax.random.key({self.seed})
start = make_model("{self.model}", task, key=jax.random.fold_in(key, 2){options})"""

    def _told(self) -> str:
        told = {**self.settings, **({"dtype": "jnp.float64"} if self.settings else {})}
        return "".join(f"    {name}={_word(name, value)},\n" for name, value in told.items())


def known_risk(make: Callable[[], Any], task: AbstractTask) -> float | None:
    """A risk, or None where nobody knows it."""
    try:
        return risk(make(), task, samples=LOOK).value
    except Unknown:
        return None


def _word(name: str, value: Any) -> str:
    return str(value) if name == "dtype" else repr(value)
