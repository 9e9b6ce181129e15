"""The trained networks that most claims of this paper look at: measured once, found again by everybody.

At the quick budget they are those that were shipped, from a long run, and are measured again; at the full one they are
trained anew. A run is one kind of network on one noise law, all depths at once. Its folder holds the networks and
`measured.json`: the adjusted half-MSE after every layer of every network, over the noise law and at single noise
levels. At low noise, deep networks explode on rare contexts, so that every mean over all contexts has a mean over
ordinary contexts beside it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from ..._names import slug
from ..._sealed import read_page, sealed
from ...attention import load, to_bytes
from ...runs import Run, drive
from .. import LongRun, long_run
from .._lab import Lab
from ._measured import Measured, levels_of, measure
from ._training import D, N, found, task_of, trainer

SHIPPED = "linear-transformers"
# The files beside a run: a network per level, and what was measured.
LEVEL, MEASURED = ".level.safetensors", "measured.json"
# The deepest network of each kind and law at the full budget; laws that are not listed: OTHERS.
DEPTHS: dict[tuple[str, str], int] = {("full", "1,3"): 5, ("axial", "1,3"): 5, ("free", "1,3"): 5}
OTHERS = {"diag": 7, "full": 4, "axial": 4, "near": 4}
ABLATED_LAYERS = 3
SAMPLES = (65_536, 262_144)
LEVEL_SAMPLES = (4_096, 32_768)
# Laws whose profiles are looked at at the quick budget.
PROFILED = ("uniform:5", "1,3", "1,3,5")


@dataclass(frozen=True)
class Networks:
    """Networks by name (`diag 3` has three layers), what was measured of them, and the long run that made them."""

    models: dict[str, Any]
    measured: Measured
    note: dict[str, Any] | None = None

    @property
    def depth(self) -> int:
        """The deepest."""
        return max(int(name.split()[-1]) for name in self.models)


def notes(*found: Networks) -> tuple[dict[str, Any], ...]:
    """The notes of the long runs that networks were taken from, each once."""
    return tuple({each.note["name"]: each.note for each in found if each.note is not None}.values())


@cache
def shipped() -> LongRun:
    """The long run with the networks that came with the package."""
    run = long_run(SHIPPED)
    if run is None:
        raise ValueError(f"the long run {SHIPPED!r} is missing: install Descant again, it comes with the package.")
    return run


def is_shipped(law: str, kind: str = "diag") -> bool:
    """Whether networks of a kind on a law came with the package."""
    return kind in shipped().numbers["networks"].get(law, {})


def networks(lab: Lab, law: str, kind: str = "diag", *, layers: int | None = None, afresh: bool = False) -> Networks:
    """The trained networks of a law.

    GD++ and DIAG (`diag`), FULL trained from random dense weights (`full`) or from near DIAG (`near`), networks that
    are DIAG but for two input directions (`axial`), free omegas (`free`), or all but one (`without-w_xx` and so on).
    As deep as the budget has it, or with at most so many layers; `afresh` trains them at any budget.
    """
    train = afresh or lab.budget == "full"
    names = [] if train else shipped().numbers["networks"][law][kind]
    if train:
        deepest = DEPTHS.get((kind, law), OTHERS.get(kind, ABLATED_LAYERS))
    else:
        deepest = max(int(name.split()[-1]) for name in names)
    depth = deepest if layers is None else min(layers, deepest)
    task = task_of(law)
    config = {
        "model": kind,
        "claims": "linear-transformer",
        "task": {"d": task.d, "n": task.n, "noise": law},
        "layers": depth,
        "budget": lab.budget,
        "seed": lab.seed,
        "trained": "here" if train else shipped().note["code"],
        "measured on": [lab.pick(*SAMPLES), lab.pick(*LEVEL_SAMPLES)],
    }
    # What a network starts from is trained first, outside the lock of its own run.
    known = networks(lab, law, layers=layers, afresh=afresh).models if train and kind != "diag" else {}

    def work(run: Run) -> None:
        if train:
            made = _train(lab, run, law, kind, depth, known)
        else:
            made = {name: shipped().model(slug(f"{law} {name}")) for name in names if int(name.split()[-1]) <= depth}
        _measure(lab, run, law, kind, made)

    run = lab.finished_run(config, work)
    measured = Measured(**read_page(run.file(MEASURED)))
    own = {slug(name): name for name in measured.names}
    files = {name.removesuffix(LEVEL): run.file(name) for name in run.files if name.endswith(LEVEL)}
    models = {name: load(files[short]) for short, name in own.items() if short in files}
    return Networks(models, measured, None if train else shipped().note)


def _train(lab: Lab, run: Run, law: str, kind: str, depth: int, known: dict[str, Any]) -> dict[str, Any]:
    training = trainer(law, kind, depth, known, lab.seed, long=lab.budget == "full")

    def show(rows: list[dict[str, Any]]) -> None:
        row = rows[-1]
        lab.tell(f"training {row['level']} on {law}: excess over Bayes {row['loss'] / 2:.3g}", row["progress"])

    return found(training, drive(training, run, on_rows=show))


def _measure(lab: Lab, run: Run, law: str, kind: str, made: dict[str, Any]) -> None:
    lab.tell(f"measuring {kind} networks on {law}", None)
    drawn = lab.budget == "full" or law in PROFILED
    measured = measure(
        made,
        law,
        d=D,
        n=N,
        # Profiles are drawn of the paper's own kinds; ridge regressions and Bayes stand beside the first of them.
        sigmas=levels_of(law) if kind in ("diag", "full", "axial") and drawn else [],
        beside=kind == "diag",
        samples=lab.pick(*SAMPLES),
        level_samples=lab.pick(*LEVEL_SAMPLES),
        seed=lab.seed + 1,
    )
    beside = {f"{slug(name)}{LEVEL}": to_bytes(model) for name, model in made.items()}
    beside[MEASURED] = sealed("measured", measured.plain()).encode()
    last = list(made)[-1]
    value, error = measured.mean(last)
    run.finish(made[last], {"adjusted_half_mse": value, "standard_error": error}, beside=beside)
