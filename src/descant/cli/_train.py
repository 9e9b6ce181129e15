"""`descant train` and `descant eval`: train a model into a run on disk, and measure a run."""

import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._plain import flat
from ._beginning import KindBeginning, ProgramBeginning, show_changes, unless_unknown
from ._config import ModelFlags, SolverFlags, StartFlags, TrainConfig
from ._flags import SOLVER, Json
from ._printing import add_risk, in_words, print_json, risk_fields, risk_table
from ._task import ShiftFlags, TaskFlags

if TYPE_CHECKING:
    from ..runs import Run, Store
    from ..tasks import AbstractTask
    from ..training import Choice, Trainer

# Draws of the noise level that tell how large it gets.
DRAWN_LEVELS = 256
# Noise levels that a model is measured at: each takes about as long as a measurement in distribution.
MOST_LEVELS = 1000


def train(
    model: str | None = None,
    /,
    *,
    task: Annotated[TaskFlags, Parameter(name="*")],
    options: Annotated[ModelFlags, Parameter(name="*")] = ModelFlags(),  # noqa: B008
    start: Annotated[StartFlags, Parameter(name="*")] = StartFlags(),  # noqa: B008
    solver: Annotated[str, Parameter(group=SOLVER)] = "auto",
    objective: Annotated[str, Parameter(group=SOLVER)] = "auto",
    settings: Annotated[SolverFlags, Parameter(name="*")] = SolverFlags(),  # noqa: B008
    seed: int = 0,
    samples: int = 65_536,
    out: Path | None = None,
    resume: Annotated[bool, Parameter(show_default="--resume")] = True,
    json: Json = False,
) -> None:
    """Train a model and keep the run on disk; a finished run is found, not repeated, an interrupted one goes on.

    Parameters
    ----------
    model
        A kind of model, such as lsa, diag or softmax (`descant models` lists all), or one of your own as module:name;
        left out if the training starts --from a program.
    solver
        population (exact risk of one layer), lm (least squares on a pool), adam, auto, or your own as module:name.
    objective
        query (the papers' own), weights, posterior, adjusted, or auto: all have the same minimiser.
    seed
        Seed of everything.
    samples
        Fresh contexts on which the trained model is measured.
    out
        Folder of the run; a folder named by the run's key under runs/ (or DESCANT_RUNS) if left out.
    resume
        Go on where an interrupted run stopped, or find the finished one; --no-resume deletes its files, and no others,
        and starts anew.
    """
    import jax

    from .. import _check
    from .._sampling import MOST_SAMPLES
    from ..runs import Store
    from ..training import MOST_STARTS

    # Whatever can be refused is refused before anything is on disk.
    _check.size("--samples", samples, least=2, most=MOST_SAMPLES)
    _check.size("--seeds", settings.seeds, most=MOST_STARTS // 2)
    for flag, count in (("--steps", settings.steps), ("--batch", settings.batch)):
        if count is not None:
            _check.size(flag, count)
    built, key = task.build(), jax.random.key(seed)
    if start.source is not None:
        beginning = ProgramBeginning.of(model, options, start, built)
    else:
        beginning = KindBeginning.of(model, options, start, built, key)
    choice = beginning.choose(solver, objective)
    trainer = beginning.trainer(choice, settings, key)
    config = TrainConfig(
        model=beginning.name,
        options=options,
        task=task,
        solver=solver,
        objective=objective,
        settings=settings,
        seed=seed,
        samples=samples,
        start=start,
        digest=beginning.digest,
    )
    store = Store(code=_code(config))
    if not resume:
        _restart(store, config.to_json(), out)
    run = store.open(config.to_json(), out)
    if run.finished:
        _say(json, f"found the finished run {run.folder}")
    else:
        _say(json, f"{choice.solver} on the {choice.objective} objective: {choice.reason}")
        _train(run, trainer, beginning, choice, samples, jax.random.fold_in(key, 2), quiet=json)
    _show(run, json)


def _code(config: TrainConfig) -> str | None:
    """The version of the code where the config names a user's modules: this package's and theirs; else None."""
    import hashlib

    from ..runs import Store

    texts = [value for value in flat(config.to_json(), ".").values() if isinstance(value, str) and ":" in value]
    files = [getattr(sys.modules.get(text.partition(":")[0]), "__file__", None) for text in texts]
    sources = [Path(file).read_bytes() for file in dict.fromkeys(files) if file is not None]
    if not sources:
        return None
    ours = Store().code
    return hashlib.sha256(b"\0".join([ours.encode(), *sources])).hexdigest()[: len(ours)]


def _restart(store: "Store", config: dict[str, Any], out: Path | None) -> None:
    """Delete what there is of this very run, finished or not; another one in its folder is not touched."""
    from ..runs import Run

    known = store.find(config) if out is None else (Run(out) if (out / "config.json").exists() else None)
    if known is not None and known.key == store.key(config):
        known.restart()


def _train(
    run: "Run",
    trainer: "Trainer",
    beginning: KindBeginning | ProgramBeginning,
    choice: "Choice",
    samples: int,
    key: Any,
    quiet: bool,
) -> None:
    from ..runs import drive
    from ..training import Display, stop_reason

    began, task = time.monotonic(), beginning.task
    with Display(choice.objective, beginning.references, quiet) as display:
        state = drive(trainer, run, on_rows=display.show, snapshot=lambda now: beginning.snapshot(trainer.model(now)))
    found, more, beside = beginning.outcome(trainer.model(state), lambda model: _measure(model, task, samples, key))
    how = {"solver": choice.solver, "objective": choice.objective, "stopped": stop_reason(state)}
    run.finish(found, {**_finite(_measure(found, task, samples, key), run), **how, **more}, beside=beside)
    _say(quiet, f"trained in {time.monotonic() - began:.1f} s; the run is {run.folder}")


def _finite(measured: dict[str, Any], run: "Run") -> dict[str, Any]:
    """What was measured, if it is a number: a training that ended in an overflow has not come to an end."""
    if not math.isfinite(measured["risk"]):
        raise OverflowError(
            f"the risk of the trained model is {measured['risk']}: it overflows, and the run {run.folder} is not "
            "finished; try other weights (--seed) or a smaller step (--lr), or a task of smaller numbers."
        )
    return measured


def _measure(model: Any, task: "AbstractTask", samples: int, key: Any) -> dict[str, Any]:
    from ..measure import best, risk

    found = risk(model, task, samples=samples, key=key)
    bayes = unless_unknown(lambda: risk(best("bayes", task), task, samples=min(samples, 16_384), key=key))
    names = ("bayes", "bayes_standard_error", "bayes_method")
    known = (None,) * 3 if bayes is None else (bayes.value, bayes.standard_error, bayes.method)
    return {**risk_fields(found), **dict(zip(names, known, strict=True))}


def _show(run: "Run", json: bool) -> None:
    result = run.result or {}
    if json:
        body = {"run": str(run.folder), "model": run.config["model"], **result}
        print_json("train", body, seed=run.config["seed"], samples=run.config["samples"])
        return
    from rich.console import Console

    method = result["method"]
    risk = in_words(result["risk"], result["standard_error"], method)
    adjusted = in_words(result["adjusted"], result["adjusted_standard_error"], method)
    bayes = in_words(result["bayes"], result["bayes_standard_error"], result["bayes_method"])
    Console().print(
        f"[bold]{run.config['model']}[/bold]: risk {risk}, adjusted {adjusted}, Bayes {bayes}\n"
        f"stopped: {result['stopped']}",
        highlight=False,
        soft_wrap=True,
    )
    if "changes" in result:
        show_changes(result)


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
    other: Annotated[ShiftFlags, Parameter(name="*")] = ShiftFlags(),  # noqa: B008
    rescale: Annotated[bool, Parameter(negative="")] = False,
    kinds: tuple[str, ...] = (),
    json: Json = False,
) -> None:
    """Measure a finished run on fresh contexts: in distribution, at fixed noise levels, and on another task.

    Flags of the task say what differs from the one that the model was trained on: `descant eval RUN --n 40 --noise 2`.

    Parameters
    ----------
    run
        The run's folder, or its name (or the beginning of it) as `descant runs` shows it.
    samples
        Fresh contexts per measurement.
    levels
        How many noise levels, from 0 to 1 above the largest that the task draws.
    seed
        Seed of the fresh contexts.
    rescale
        Rescale a model of plain sums to the other context length: every layer sees its sums as if they were as long as
        in training.
    kinds
        Models, laws and tasks of your own that the run's files may name, as module:name; a file can't name code by
        itself.
    """
    import jax

    from .. import _check
    from .._sampling import MOST_SAMPLES
    from ..measure import risk as measure
    from ..runs import Run, Store

    _check.size("--samples", samples, least=2, most=MOST_SAMPLES)
    _check.size("--levels", levels, least=2, most=MOST_LEVELS)
    # A folder, or the name of a run in the store.
    stored = Run(run) if (run / "config.json").exists() else Store().get(str(run))
    try:
        config = TrainConfig.from_json(stored.config)
    except ValueError as error:
        raise ValueError(f"the run {run} was not made by descant train, or by another version of it: {error}") from None
    if not stored.finished:
        raise ValueError(
            f"the run {run} is not finished; run the same train command again, it goes on where it stopped."
        )
    stored.check()
    allow(config.task, kinds)
    flags, key = config.task, jax.random.key(seed)
    models = tuple(name for name in kinds if name not in flags.own_code())
    model, shifted = stored_model(stored, config, models), other.applied(flags)
    if rescale:
        from ..attention import rescaled

        model_there = rescaled(model, flags.n, shifted.n)
    else:
        model_there = model
    task = shifted.build()
    found = risk_fields(measure(model, flags.build(), samples=samples, key=key))
    there = found if shifted == flags else risk_fields(measure(model_there, task, samples=samples, key=key))
    rows = [
        {"sigma": sigma, **risk_fields(measure(model_there, at_level, samples=samples, key=key))}
        for sigma, at_level in _levels(task, levels)
    ]
    if json:
        shift = {} if shifted == flags else {"shift": {"task": shifted.as_json(), "rescaled": rescale, **there}}
        body = {"run": str(run), "model": config.model, "task": flags.as_json(), **found, **shift, "levels": rows}
        print_json("eval", body, seed=seed, samples=samples)
        return
    from rich.console import Console

    table = risk_table(f"{config.model} trained on {flags.in_words()}", "noise")
    add_risk(table, flags.noise, found, style="bold", end_section=True)
    if shifted != flags:
        there_in_words = f"{shifted.in_words()}{', rescaled' if rescale else ''}"
        table.caption = f"from the second row on: on {there_in_words}\n{table.caption}"
        add_risk(table, shifted.noise, there, style="bold", end_section=True)
    for row in rows:
        add_risk(table, f"{row['sigma']:.3g}", row)
    Console().print(table)
    for reason in dict.fromkeys(row["note"] for row in (found, there) if row["note"]):
        print(f"not exact: {reason}")


def allow(flags: TaskFlags, kinds: tuple[str, ...]) -> None:
    """Code that a run's files name is imported only if the user names it too."""
    named = {*kinds, *os.environ.get("DESCANT_KINDS", "").split(",")}
    for reference in flags.own_code():
        if reference not in named:
            raise ValueError(f"the task of this run names code, {reference}; add --kinds {reference} if it is yours.")


def stored_model(stored: "Run", config: TrainConfig, kinds: tuple[str, ...]) -> Any:
    """The model of a finished run."""
    try:
        if config.start.source is not None:
            from ..programs import ProgramPredictor

            return stored.model([ProgramPredictor])
        return stored.model(kinds)
    except ValueError as error:
        if ":" in config.model and not kinds:
            raise ValueError(f"{error} The model of this run is {config.model}: add --kinds {config.model}.") from None
        raise


def _levels(task: "AbstractTask", count: int) -> "list[tuple[float, AbstractTask]]":
    """The task at fixed noise levels, from 0 to one beyond the largest that it draws; none if it has no noise level."""
    import equinox as eqx
    import jax

    from ..tasks import FixedNoise, Unknown

    try:
        regression = task.regression()
    except Unknown:
        return []
    drawn = jax.vmap(lambda key: regression.noise.sample(key=key))(jax.random.split(jax.random.key(0), DRAWN_LEVELS))
    # To two digits: the largest of many draws from U(0, 5) is 4.99.
    top = float(f"{float(drawn.max()):.1e}")
    levels = [(top + 1) * index / (count - 1) for index in range(count)]
    return [(level, eqx.tree_at(lambda task: task.noise, regression, FixedNoise(level))) for level in levels]
