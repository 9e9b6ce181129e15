"""The trained networks that most claims of this paper look at: trained once, measured once, found again by everybody.

A run is one kind of network on one noise law, all depths at once (each depth starts from the one before). Its folder
also holds `measured.json`: the adjusted half-MSE after every layer of every network, over the noise law and at single
noise levels.
Networks are fitted without sentinels, as the paper's were: at low noise, deep ones explode on rare contexts, so that
every mean over all contexts has a mean over ordinary contexts beside it.
"""

from dataclasses import dataclass
from typing import Any

import jax

from ..._names import slug
from ..._sealed import read_page, sealed
from ...attention import AbstractDiagonal, Axial, Diag, FreeDiag, Full, load, to_bytes
from ...runs import Run, drive
from ...tasks import LinearRegression, parse_noise
from ...training import RANDOM_STARTS, Level, LMTrainer, deepened, plan, random_start
from .._lab import Lab
from ._measured import Measured, levels_of, measure
from ._omegas import OMEGAS, Omegas

D, N = 10, 20
# The files beside a run: a network per level, and what was measured.
LEVEL, MEASURED = ".level.safetensors", "measured.json"
# The deepest network of each kind and law, at the quick and at the full budget; laws that are not listed: FULL_ONLY.
DEPTHS: dict[tuple[str, str], tuple[int, int]] = {
    ("diag", "uniform:5"): (5, 7),
    ("diag", "1,3"): (5, 7),
    ("diag", "0"): (3, 7),
    ("full", "1,3"): (4, 5),
    ("free", "1,3"): (4, 5),
}
OTHERS = {"diag": (3, 7), "full": (3, 4)}
# Depths of FULL that the quick budget leaves out: DIAG is as good there.
QUICK_LEAVES_OUT = ("full 1", "full 2")
ABLATED_LAYERS = 3
# Pools, starts and steps: at the quick budget a law with five layers takes about 90 s on one core, and ends within 2%
# of where the full budget's fits end.
QUICK: dict[str, Any] = {
    "pieces": 8,
    "most_pieces": 8,
    "keep": 1,
    "random_starts": 2,
    "screen_steps": 8,
    "refine_steps": 40,
}
# FULL, by way of axial networks, whose many starts need long screening.
QUICK_FULL: dict[str, Any] = {**QUICK, "random_starts": 1, "screen_steps": 40}
FULL_FULL: dict[str, Any] = {"pieces": 8, "most_pieces": 16, "random_starts": 2, "screen_steps": 40, "drawn": 8}
SAMPLES = (32_768, 131_072)
LEVEL_SAMPLES = (4_096, 32_768)


@dataclass(frozen=True)
class Networks:
    """Networks by name (`diag 3` has three layers), and what was measured of them."""

    models: dict[str, Any]
    measured: Measured

    @property
    def depth(self) -> int:
        """The deepest."""
        return max(int(name.split()[-1]) for name in self.models)


def task_of(law: str) -> LinearRegression:
    """The paper's task for a noise law."""
    return LinearRegression(D, N, noise=parse_noise(law))


def networks(lab: Lab, law: str, kind: str = "diag", *, layers: int | None = None) -> Networks:
    """The trained networks of a law: GD++ and DIAG (`diag`), `full`, `free` omegas, or `without-w_xx` and so on.

    As deep as the budget has it, or with at most so many layers.
    """
    quick, full = DEPTHS.get((kind, law), OTHERS.get(kind, (ABLATED_LAYERS, ABLATED_LAYERS)))
    depth = lab.pick(quick, full) if layers is None else min(layers, lab.pick(quick, full))
    config = {
        "model": kind,
        "claims": "linear-transformer",
        "task": {"d": D, "n": N, "noise": law},
        "layers": depth,
        "budget": lab.budget,
        "seed": lab.seed,
    }
    # What a network starts from is trained first, outside the lock of its own run.
    before = {} if kind == "diag" else networks(lab, law, layers=layers).models
    run = lab.finished_run(config, lambda run: _train(lab, run, law, kind, depth, before))
    paths = [run.file(name) for name in sorted(run.files) if name.endswith(LEVEL)]
    models = {" ".join(path.name.removesuffix(LEVEL).rsplit("-", 1)): load(path) for path in paths}
    return Networks(models, Measured(**read_page(run.file(MEASURED))))


def _train(lab: Lab, run: Run, law: str, kind: str, depth: int, before: dict[str, Any]) -> None:
    task = task_of(law)
    settings = dict(lab.pick(QUICK_FULL, FULL_FULL) if kind == "full" else lab.pick(QUICK, {}))
    levels = _levels(kind, depth, task, before, settings.pop("random_starts", RANDOM_STARTS))
    if lab.budget == "quick":
        levels = [level for level in levels if level.name not in QUICK_LEAVES_OUT]
    template, key = levels[-1].template, jax.random.key(lab.seed)
    trainer = LMTrainer(template, task, key=key, sentinels=False, levels=levels, **settings)

    def show(rows: list[dict[str, Any]]) -> None:
        row = rows[-1]
        lab.tell(f"training {row['level']} on {law}: excess over Bayes {row['loss'] / 2:.3g}", row["progress"])

    state = drive(trainer, run, on_rows=show)
    found = {
        name: model.as_free() if isinstance(model, Omegas) else model
        for name, model in trainer.found(state).items()
        if not isinstance(model, Axial)  # only on the way to FULL: the paper has none
    }
    lab.tell(f"measuring {kind} networks on {law}", None)
    measured = measure(
        found,
        task,
        # Profiles are drawn of the paper's own kinds; ridge regressions and Bayes stand beside the first of them.
        sigmas=levels_of(law) if kind in ("diag", "full") else [],
        beside=kind == "diag",
        samples=lab.pick(*SAMPLES),
        level_samples=lab.pick(*LEVEL_SAMPLES),
        seed=lab.seed + 1,
    )
    beside = {f"{slug(name)}{LEVEL}": to_bytes(model) for name, model in found.items()}
    beside[MEASURED] = sealed("measured", measured.plain()).encode()
    last = list(found)[-1]
    value, error = measured.mean(last)
    run.finish(found[last], {"adjusted_half_mse": value, "standard_error": error}, beside=beside)


def _levels(kind: str, depth: int, task: LinearRegression, before: dict[str, Any], random_starts: int) -> list[Level]:
    """The networks on the way. FULL (by way of axial networks) and free omegas start from the trained DIAG."""
    if kind == "diag":
        return plan(Diag.zeros(depth), task, random_starts)
    if kind == "full":
        whole = plan(Full.zeros(task.d, depth), task, random_starts, every_depth=True)
        return [_after(level, before) for level in whole if level.name not in before]
    dropped = None if kind == "free" else OMEGAS.index(kind.removeprefix("without-"))
    return [_omega_level(kind, layers, dropped, task, before, random_starts) for layers in range(1, depth + 1)]


def _after(level: Level, before: dict[str, Any]) -> Level:
    """The same level where some networks have been found already, elsewhere."""
    return Level(level.name, level.template, lambda found, key: level.starts({**before, **found}, key))


def _omega_level(
    kind: str, layers: int, dropped: int | None, task: LinearRegression, before: dict[str, Any], random_starts: int
) -> Level:
    def wrapped(model: AbstractDiagonal) -> Omegas:
        return Omegas.of(model, dropped)

    def starts(found: dict[str, Any], key: Any) -> list[Any]:
        known = [wrapped(before[f"{name} {layers}"]) for name in ("diag", "gd++")]
        shallower = found.get(f"{kind} {layers - 1}")
        deeper = [] if shallower is None else [wrapped(each) for each in deepened(shallower.as_free(), task, key)]
        template = FreeDiag.random(layers, key=key)
        fresh = [random_start(template, task, jax.random.fold_in(key, 1000 + index)) for index in range(random_starts)]
        return [*known, *deeper, *(wrapped(each) for each in fresh)]

    return Level(f"{kind} {layers}", Omegas.of(FreeDiag.random(layers, key=jax.random.key(0)), dropped), starts)
