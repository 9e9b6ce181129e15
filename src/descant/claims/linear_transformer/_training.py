"""How the networks of this paper's claims are trained: by least squares, each depth from the one before.

FULL's thousand weights are for Adam (`_dense`). Networks are fitted without sentinels, as the paper's were: at low
noise, deep ones explode on rare contexts.
"""

from typing import Any

import jax

from ...attention import AbstractDiagonal, Axial, Diag, FreeDiag
from ...tasks import LinearRegression, parse_noise
from ...training import RANDOM_STARTS, Level, LMTrainer, deepened, plan, random_start
from ._dense import DenseTrainer, near_diag, random_dense
from ._omegas import OMEGAS, Omegas

D, N = 10, 20
# Input directions that an axial network frees.
AXES = 2
# Pools, starts and steps. Those of the networks that are shipped: a law with five layers takes about 90 s on one core,
# and ends within 2% of where the full budget's fits end.
SHORT: dict[str, Any] = {
    "pieces": 8,
    "most_pieces": 8,
    "keep": 1,
    "random_starts": 2,
    "screen_steps": 8,
    "refine_steps": 40,
}
# Axial networks have many starts, which need long screening.
SHORT_AXIAL: dict[str, Any] = {**SHORT, "random_starts": 1, "screen_steps": 40}
LONG_AXIAL: dict[str, Any] = {"pieces": 8, "most_pieces": 16, "random_starts": 2, "screen_steps": 40, "drawn": 8}
# FULL from dense weights, in short and in long: starts, steps of Adam, pieces of 512 contexts. One and two layers of
# FULL gain nothing over DIAG.
DENSE_STARTS, DENSE_STEPS, DENSE_PIECES = (2, 4), (12_000, 100_000), (128, 512)
FIRST_DENSE = 3
# The network whose weights are looked at is trained for twice as long.
DOUBLE = ("1,3", 4)
# The first depth at which DIAG is trained again from a neighbouring law's network.
FIRST_AGAIN = 3


def task_of(law: str) -> LinearRegression:
    """The paper's task for a noise law."""
    return LinearRegression(D, N, noise=parse_noise(law))


def trainer(law: str, kind: str, depth: int, known: dict[str, Any], seed: int, *, long: bool) -> Any:
    """What trains the networks of a kind up to a depth that are not `known` yet; `found(trainer, state)` has them."""
    task = task_of(law)
    if kind in ("full", "near"):
        steps = DENSE_STEPS[long] * (2 if (law, depth) == DOUBLE else 1)
        return _dense_trainer(task, kind, depth, known, seed, long, steps)
    settings = dict((LONG_AXIAL if long else SHORT_AXIAL) if kind == "axial" else {} if long else SHORT)
    levels = _levels(kind, depth, task, known, settings.pop("random_starts", RANDOM_STARTS))
    missing = [_after(level, known) for level in levels if level.name not in known]
    template = missing[-1].template
    return LMTrainer(template, task, key=jax.random.key(seed), sentinels=False, levels=missing, **settings)


def _dense_trainer(
    task: LinearRegression, kind: str, depth: int, known: dict[str, Any], seed: int, long: bool, steps: int
) -> DenseTrainer:
    """FULL from random weights, at every depth at which it can be better than DIAG; or from near a trained DIAG."""

    def starts(layers: int) -> list[Any]:
        if kind == "near":
            return [near_diag(known[f"diag {layers}"], task, jax.random.key(seed + 1))]
        keys = [jax.random.key(seed + 2 + 3 * index) for index in range(DENSE_STARTS[long])]
        return [random_dense(layers, task, key) for key in keys]

    depths = [depth] if kind == "near" else range(FIRST_DENSE, depth + 1)
    names = {f"{kind} {layers}": layers for layers in depths if f"{kind} {layers}" not in known}
    plans = {name: (lambda layers=layers: starts(layers)) for name, layers in names.items()}
    return DenseTrainer(task, plans, seed=seed, steps=steps, pieces=DENSE_PIECES[long])


def found(trainer: Any, state: Any) -> dict[str, Any]:
    """The networks that a trainer has ended with, in forms that can be saved."""
    return {
        name: model.as_free() if isinstance(model, Omegas) else model for name, model in trainer.found(state).items()
    }


def _levels(kind: str, depth: int, task: LinearRegression, known: dict[str, Any], random_starts: int) -> list[Level]:
    """The networks on the way; those with other weights than DIAG's four start from the trained DIAG."""
    if kind == "diag":
        return plan(Diag.zeros(depth), task, random_starts)
    if kind == "again":
        return [_again(layers) for layers in range(FIRST_AGAIN, depth + 1)]
    if kind == "axial":
        return plan(Axial.from_diag(Diag.zeros(depth), AXES), task, random_starts)
    dropped = None if kind == "free" else OMEGAS.index(kind.removeprefix("without-"))
    return [_omega_level(kind, layers, dropped, task, known, random_starts) for layers in range(1, depth + 1)]


def _again(layers: int) -> Level:
    """DIAG once more, from where it stands and from what a neighbouring law has: deep networks have poor minima."""
    return Level(
        f"again {layers}", Diag.zeros(layers), lambda known, _: [known[f"{n} {layers}"] for n in ("diag", "there")]
    )


def _after(level: Level, known: dict[str, Any]) -> Level:
    """The same level where some networks have been found already, elsewhere."""
    return Level(level.name, level.template, lambda found, key: level.starts({**known, **found}, key))


def _omega_level(
    kind: str, layers: int, dropped: int | None, task: LinearRegression, known: dict[str, Any], random_starts: int
) -> Level:
    def wrapped(model: AbstractDiagonal) -> Omegas:
        return Omegas.of(model, dropped)

    def starts(found: dict[str, Any], key: Any) -> list[Any]:
        near = [wrapped(known[f"{name} {layers}"]) for name in ("diag", "gd++")]
        shallower = found.get(f"{kind} {layers - 1}")
        deeper = [] if shallower is None else [wrapped(each) for each in deepened(shallower.as_free(), task, key)]
        template = FreeDiag.random(layers, key=key)
        fresh = [random_start(template, task, jax.random.fold_in(key, 1000 + index)) for index in range(random_starts)]
        return [*near, *deeper, *(wrapped(each) for each in fresh)]

    return Level(f"{kind} {layers}", Omegas.of(FreeDiag.random(layers, key=jax.random.key(0)), dropped), starts)
