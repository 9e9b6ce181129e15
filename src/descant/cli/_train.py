"""`descant train` and `descant eval`: train a model into a run on disk, and measure a run."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._plain import line
from ._task import TaskFlags

if TYPE_CHECKING:
    from ..measure import Risk
    from ..runs import Run, Store
    from ..tasks import LinearRegression
    from ..training import Trainer
    from ._display import References


@dataclass(frozen=True, kw_only=True)
class TrainFlags:
    """How to train."""

    layers: int | None = None
    "Layers of gd++, diag, free-diag, axial, full (1 if left out), elsa and softmax (2)."
    heads: int | None = None
    "Heads of lsa, yq-lsa, diag, axial, full, elsa (1 if left out) and softmax (4)."
    tied: Annotated[bool, Parameter(negative="")] = False
    "Give all layers the same weights."
    query_masked: Annotated[bool, Parameter(negative="--query-attends")] = True
    "Whether the query's own token is left out of the keys and values (lsa, yq-lsa)."
    mlp: str | None = None
    "What follows attention in softmax: relu, gelu, or none (if left out)."
    causal: Annotated[bool, Parameter(negative="")] = False
    "Let tokens of softmax attend to earlier ones only."
    objective: str = "auto"
    "query (the papers' own), weights, posterior, adjusted, or auto: all have the same minimiser."
    solver: str = "auto"
    "population (exact risk of one layer), lm (least squares on a pool), adam, or auto."
    steps: int | None = None
    "Steps of adam (5000), or refining steps of lm (100)."
    batch: int | None = None
    "Fresh contexts per step of adam (2048)."
    lr: float | None = None
    "Step size of adam (0.001)."
    seeds: int = 1
    "Members trained at once by adam; starts of the other solvers beside those they have anyway."
    seed: int = 0
    "Seed of everything."


def train(
    model: str,
    /,
    *,
    task: Annotated[TaskFlags, Parameter(name="*")],
    how: Annotated[TrainFlags, Parameter(name="*")] = TrainFlags(),  # noqa: B008
    samples: int = 65_536,
    out: Path | None = None,
    resume: bool = True,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Train a model and keep the run on disk; a finished run is found, not repeated, an interrupted one goes on.

    Parameters
    ----------
    model
        lsa, yq-lsa, ltb, gd++, diag, free-diag (diag with free omegas), axial (diag but for one input), full, elsa or
        softmax.
    samples
        Fresh contexts on which the trained model is measured.
    out
        Folder of the run; a folder named by the run's key under runs/ (or DESCANT_RUNS) if left out.
    resume
        Go on where an interrupted run stopped, or find the finished one; --no-resume deletes it and starts anew.
    json
        Print the result as one JSON object.
    """
    import jax

    from .. import _check
    from ..runs import Store
    from ..training import choose, make_model, make_trainer

    # Whatever can be refused is refused before anything is on disk.
    _check.size("samples", samples, least=2)
    _check.size("seeds", how.seeds)
    built = task.build()
    key = jax.random.key(how.seed)
    sizes = {"layers": how.layers, "heads": how.heads, "tied": how.tied, "query_masked": how.query_masked}
    sizes |= {"mlp": how.mlp, "causal": how.causal}
    start = make_model(model, built, **sizes, key=jax.random.fold_in(key, 0))
    choice = choose(start, built, how.solver, how.objective)
    members = start
    if choice.solver == "adam" and how.seeds > 1:
        others = [make_model(model, built, **sizes, key=jax.random.fold_in(key, 100 + i)) for i in range(1, how.seeds)]
        members = [start, *others]
    trainer = make_trainer(members, built, choice, key=jax.random.fold_in(key, 1), **_settings(choice.solver, how))
    config = {"model": model, "task": asdict(task), "how": asdict(how), "samples": samples, "choice": asdict(choice)}
    store = Store()
    if not resume:
        _forget(store, config, out)
    run = store.open(config, out)
    if run.finished:
        _say(json, f"found the finished run {run.folder}")
    else:
        _say(json, f"{choice.solver} on the {choice.objective} objective: {choice.reason}")
        _train(run, trainer, built, choice, samples, jax.random.fold_in(key, 2), quiet=json)
    _show(run, json)


def _forget(store: "Store", config: dict[str, Any], out: Path | None) -> None:
    """Delete what there is of the run, finished or not."""
    from ..runs import Run

    known = store.find(config) if out is None else (Run(out) if (out / "config.json").exists() else None)
    if known is not None:
        store.delete(known)


def _train(
    run: "Run", trainer: "Trainer", task: "LinearRegression", choice: Any, samples: int, key: Any, quiet: bool
) -> None:
    from ..runs import drive
    from ._display import Display

    began = time.monotonic()
    with Display(choice, lambda: _references(run.config, task), quiet) as display:
        state = drive(trainer, run, on_rows=display.show)
    found = trainer.model(state)
    run.finish(found, _measure(found, task, samples, key))
    _say(quiet, f"trained in {time.monotonic() - began:.1f} s; the run is {run.folder}")


def _settings(solver: str, how: TrainFlags) -> dict[str, Any]:
    """The flags that the solver understands; one that it doesn't is an error, not silence."""
    given = {"steps": how.steps, "batch": how.batch, "lr": how.lr}
    given = {name: value for name, value in given.items() if value is not None}
    if solver == "adam":
        return given
    renamed = {"lm": {"steps": "refine_steps"}, "population": {}}[solver]
    for name in given:
        if name not in renamed:
            raise ValueError(f"--{name} means nothing to the solver {solver}; leave it out, or use --solver adam.")
    settings = {renamed[name]: value for name, value in given.items()}
    if how.seeds > 1:
        from ..training import RANDOM_STARTS

        settings["random_starts"] = RANDOM_STARTS + how.seeds - 1
    return settings


def _references(config: dict[str, Any], task: "LinearRegression") -> "References":
    from ..measure import best, risk
    from ._display import References

    bayes, oracle = (risk(best(name, task), task, samples=16_384).value for name in ("bayes", "ridge"))
    return References(bayes, oracle, _known_optimum(config, task))


def _known_optimum(config: dict[str, Any], task: "LinearRegression") -> float | None:
    """The least risk of the class, where theory knows it."""
    from .._unknown import Unknown
    from ..measure import best, exact_risk

    name, how = config["model"], config["how"]
    if name not in ("lsa", "yq-lsa", "ltb") or task.d > 12:
        return None
    if name == "lsa" and how["heads"] not in (None, 1):
        predictor = best("multi-head-lsa", task, heads=how["heads"], query_masked=how["query_masked"])
    else:
        predictor = best(name, task, query_masked=how["query_masked"] or name == "yq-lsa")
    try:
        return exact_risk(predictor, task)
    except Unknown:
        return None


def _measure(model: Any, task: "LinearRegression", samples: int, key: Any) -> dict[str, Any]:
    from ..measure import best, risk

    found = risk(model, task, samples=samples, key=key)
    bayes = risk(best("bayes", task), task, samples=min(samples, 16_384), key=key)
    return {**_as_dict(found), "bayes": bayes.value, "bayes_standard_error": bayes.standard_error}


def _as_dict(found: "Risk") -> dict[str, Any]:
    return {
        "risk": found.value,
        "standard_error": found.standard_error,
        "adjusted": found.adjusted,
        "adjusted_standard_error": found.adjusted_error,
        "method": found.method,
    }


def _show(run: "Run", json: bool) -> None:
    result = run.result or {}
    if json:
        print(line("result", {"run": str(run.folder), "model": run.config["model"], **result}))
        return
    from rich.console import Console

    error = "exact" if result["standard_error"] == 0 else f"± {result['standard_error']:.2g}"
    Console().print(
        f"[bold]{run.config['model']}[/bold]: risk {result['risk']:.6g} {error}, adjusted {result['adjusted']:.6g}, "
        f"Bayes {result['bayes']:.6g}",
        highlight=False,
    )


def _say(quiet: bool, sentence: str) -> None:
    if not quiet:
        from rich.console import Console

        Console().print(sentence, style="dim", highlight=False)


def evaluate(
    run: Path,
    /,
    *,
    samples: int = 65_536,
    levels: int = 6,
    seed: int = 1,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Measure a finished run on fresh contexts: in distribution, and at fixed noise levels.

    Parameters
    ----------
    run
        The run's folder, or its name (or the beginning of it) as `descant runs` shows it.
    samples
        Fresh contexts per measurement.
    levels
        How many noise levels, from 0 to one beyond the largest the model was trained on.
    seed
        Seed of the fresh contexts.
    json
        Print one JSON object with risk, standard_error and adjusted, and the same for each noise level.
    """
    import jax

    from .. import _check
    from ..measure import risk as measure
    from ..runs import Run, Store

    _check.size("samples", samples, least=2)
    _check.size("levels", levels, least=2)
    # A folder, or the name of a run in the store.
    stored = Run(run) if (run / "config.json").exists() else Store().get(str(run))
    if "task" not in stored.config or "how" not in stored.config:
        raise ValueError(f"the run {run} was not made by descant train; its folder holds what there is to know of it.")
    if not stored.finished:
        raise ValueError(
            f"the run {run} is not finished; run the same train command again, it goes on where it stopped."
        )
    flags = TaskFlags(**stored.config["task"])
    task, model, key = flags.build(), stored.model(), jax.random.key(seed)
    found = measure(model, task, samples=samples, key=key)
    rows = [
        {"sigma": sigma, **_as_dict(measure(model, _at_level(flags, sigma), samples=samples, key=key))}
        for sigma in _levels(task, levels)
    ]
    if json:
        print(line("result", {"run": str(run), "model": stored.config["model"], **_as_dict(found), "levels": rows}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{stored.config['model']} trained on {flags.in_words()}", title_justify="left")
    for column in ("noise", "risk", "±", "adjusted", "±"):
        table.add_column(column, justify="right")
    for name, row in [(flags.noise, _as_dict(found)), *((f"{row['sigma']:.3g}", row) for row in rows)]:
        numbers = (row["risk"], row["standard_error"], row["adjusted"], row["adjusted_standard_error"])
        table.add_row(name, *(f"{number:.5g}" for number in numbers), end_section=name == flags.noise)
    Console().print(table)


def _at_level(flags: TaskFlags, sigma: float) -> "LinearRegression":
    from dataclasses import replace

    return replace(flags, noise=repr(sigma)).build()


def _levels(task: "LinearRegression", count: int) -> list[float]:
    from ..tasks import CategoricalNoise, FixedNoise, UniformNoise

    match task.noise:
        case UniformNoise(high=high):
            top = float(high)
        case CategoricalNoise(sigmas=sigmas):
            top = float(sigmas.max())
        case FixedNoise(sigma=sigma):
            top = float(sigma)
        case _:
            top = 0.0
    return [(top + 1) * index / (count - 1) for index in range(count)]
