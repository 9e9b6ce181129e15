"""Table 1 of Vladymyrov et al. (2024), trained again: adjusted half-MSE of GD++, DIAG and FULL for each noise law.

Half of the adjusted risk, as the paper prints it: half the mean squared error less the oracle ridge's. With little
noise, the networks that the paper's values belong to explode on about one context in a hundred thousand, and nothing
but that context is left in the mean. So every entry has the mean, and beside it the part of the mean that ordinary
contexts make up and the share of the others. Such networks are fitted here without sentinels: with them, no context
explodes, and the mean over ordinary ones is larger.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..._sampling import mean_over_keys
from ...attention import Diag, Full, save
from ...estimators import ConstRidge
from ...measure import moment_risks
from ...runs import Run, Store, drive
from ...tasks import LinearRegression, parse_noise
from ...training import RANDOM_STARTS, LMTrainer, plan
from ._printed import printed_networks

D, N = 10, 20
LAWS = ("0", "uniform:1", "uniform:3", "uniform:5", "uniform:7", "1,3")
FULL_LAWS = ("uniform:5", "1,3")
LAYERS = 5
# What the paper prints, layers 1 to 5, by noise law; only ever shown beside our own numbers.
PAPER: dict[str, dict[str, list[float]]] = {
    kind: {law: printed_networks(kind, law)[:LAYERS] for law in (FULL_LAWS if kind == "full" else LAWS)}
    for kind in ("gd++", "diag", "full")
}
# As good as the paper: at most this much above its printed value, or within so many of our standard errors of it.
RATIO, ERRORS = 1.03, 3.0
SAMPLES = 131_072
# A network explodes on a context if it errs there by more than this many times the mean error of predicting zero.
EXPLODES = 10.0
# What FULL networks cost grows with the square of their hundreds of parameters: fewer contexts and starts. Axial
# networks, from which they start, fall slowly from where they explode: longer screening.
FULL_STARTS = 2
FULL_SETTINGS: dict[str, Any] = {
    "pieces": 8,
    "most_pieces": 16,
    "screen_steps": 40,
    "drawn": 8,
}


@dataclass(frozen=True)
class Entry:
    """One cell: ours with its standard error, the paper's, and the best constant ridge, below which no GD++ can be.

    `value` is the mean over all contexts; `ordinary` what is left of it without the share `exploding` of the contexts.
    """

    law: str
    model: str
    layers: int
    value: float
    error: float
    ordinary: float
    ordinary_error: float
    exploding: float
    paper: float
    const_ridge: float

    @property
    def verdict(self) -> str:
        """How ours compares, on ordinary contexts."""
        value, error = self.ordinary, self.ordinary_error
        if value < self.paper / RATIO - ERRORS * error:
            return "better"
        if value <= RATIO * self.paper or value <= self.paper + ERRORS * error:
            return "equal"
        # The paper's number may lie below what any network of the class can reach.
        bounded = self.model == "gd++" and self.paper < self.const_ridge - ERRORS * error
        return "bound" if bounded and value <= RATIO * self.const_ridge else "worse"


def table_1(
    folder: Path,
    laws: tuple[str, ...] = LAWS,
    *,
    layers: int = 5,
    full: bool = False,
    seed: int = 0,
    on_rows: Callable[[list[dict[str, Any]]], Any] | None = None,
) -> Iterator[list[Entry]]:
    """Train and measure law by law; every law is a run in `folder`, so that interrupted work goes on."""
    store = Store(folder)
    for law in laws:
        task = LinearRegression(D, N, noise=parse_noise(law))
        model = Full.zeros(D, layers) if full else Diag.zeros(layers)
        kind = "full" if full else "diag"
        config = {"model": kind, "table": 1, "task": {"d": D, "n": N, "noise": law}, "layers": layers, "seed": seed}
        run = store.open(config)
        if not run.finished:
            _fit(run, model, task, law, seed, on_rows)
        yield [Entry(**entry) for entry in (run.result or {})["entries"]]


def _fit(run: Run, model: Any, task: LinearRegression, law: str, seed: int, on_rows: Any) -> None:
    settings, random_starts = (FULL_SETTINGS, FULL_STARTS) if isinstance(model, Full) else ({}, RANDOM_STARTS)
    levels = plan(model, task, random_starts, every_depth=True)
    trainer = LMTrainer(model, task, key=jax.random.key(seed), sentinels=False, levels=levels, **settings)
    state = drive(trainer, run, on_rows=on_rows)
    found = trainer.found(state)
    for name, each in found.items():
        save(each, run.folder / "levels" / f"{name.replace(' ', '-')}.safetensors")
    key = jax.random.key(seed + 1)
    *risks, const_ridge = moment_risks([*found.values(), ConstRidge.best(task)], task, samples=SAMPLES, key=key)
    means, errors = mean_over_keys(_ordinary_errors, (list(found.values()), task), key, SAMPLES)
    entries = []
    for index, (name, risk) in enumerate(zip(found, risks, strict=True)):
        kind, depth = name.split()
        paper = PAPER.get(kind, {}).get(law)
        if paper is None:
            continue
        entry = Entry(
            law,
            kind,
            int(depth),
            value=risk.adjusted / 2,
            error=risk.adjusted_error / 2,
            ordinary=float(means[0, index]) / 2,
            ordinary_error=float(errors[0, index]) / 2,
            exploding=float(means[1, index]),
            paper=paper[int(depth) - 1],
            const_ridge=const_ridge.adjusted / 2,
        )
        entries.append(asdict(entry))
    run.finish(
        trainer.model(state), {"entries": entries, "risk": risks[-1].value, "standard_error": risks[-1].standard_error}
    )


def _ordinary_errors(subject: tuple[list[Any], LinearRegression], key: PRNGKeyArray) -> Array:
    """The adjusted loss of each network on a fresh context, 0 where it explodes; and whether it does."""
    models, task = subject
    moments = task.sample_moments(key=key)
    wanted = task.posterior(moments, moments.sigma).mean
    errors = jnp.stack([task.error_norm(model.weights(moments) - wanted) for model in models])
    explodes = ~(errors <= EXPLODES * task.d)  # N(0, I) tasks and inputs: predicting zero costs d
    return jnp.stack([jnp.where(explodes, 0.0, errors), explodes.astype(errors.dtype)])
