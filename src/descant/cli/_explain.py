"""`descant explain`: which algorithm is it?"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._counted import counted
from ._config import TrainConfig
from ._flags import Force, Json
from ._printing import print_json
from ._task import ShiftFlags, TaskFlags
from ._train import allow, stored_model

if TYPE_CHECKING:
    from ..readout import OverTime
    from ..runs import Run
    from ..tasks import AbstractTask

SUFFIX = ".safetensors"
PAGE = "explanation.json"
# Contexts that every model along a training is looked at on, at most.
MOST_OVER_TIME = 256


def explain(
    what: str,
    /,
    *,
    task: Annotated[ShiftFlags, Parameter(name="*")] = ShiftFlags(),  # noqa: B008
    heads: int | None = None,
    over_time: Annotated[bool, Parameter(negative="")] = False,
    contexts: int = 1024,
    seed: int = 0,
    kinds: tuple[str, ...] = (),
    out: Path | None = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Say which algorithm a model is, as a whole and layer by layer, and how much of it that explains.

    `descant explain RUN` takes the task of the run; flags of the task say what differs from it. For a file, a folder of
    a compiled program or a name, the flags are the task: `descant explain gd-beta --d 5 --n 10 --prior-mean 1`.

    Parameters
    ----------
    what
        A run (its folder, or its name as `descant runs` shows it), a model's .safetensors file, the folder of a
        compiled program, or a predictor's name (see `descant risk`), your own too, as module:name.
    heads
        Heads of multi-head-lsa.
    over_time
        Say when each layer of a run becomes what it ends as, from the models that it kept along the way.
    contexts
        Contexts that are looked at: half of them to fit, half of them to say how much is explained.
    seed
        Seed of the contexts.
    kinds
        Models, laws and tasks of your own that files may name, as module:name; a file can't name code by itself.
    out
        Folder for figures (PNG, SVG) and explanation.json.
    force
        Write over files in OUT that Descant did not write.
    """
    import jax

    from .. import _check
    from ..readout import MOST_CONTEXTS, explain as look, figures

    # Whatever can be refused is refused before anything is drawn.
    _check.size("--contexts", contexts, least=64, most=MOST_CONTEXTS)
    run = _run(what)
    if over_time and run is None:
        raise ValueError(f"--over-time is for a run, and {what} is none; `descant runs` lists them.")
    flags, model = _subject(what, run, task, heads, kinds)
    built, key = flags.build(), jax.random.key(seed)
    if out is not None:
        _reserve(out, force)
    if model is None:
        from ..measure import best

        model = best(what, built, heads=heads)
    looked = min(contexts, MOST_OVER_TIME) if over_time else contexts
    if over_time and run is not None:
        found = _over_time(run, model, built, contexts, key, kinds)
        sentences, drawn = found.sentences, (found.figure(),)
    else:
        found = look(model, built, name=_name(what, run), contexts=contexts, key=key)
        sentences, drawn = (found.sentence, *found.sentences), figures(found)
    body = {**found.as_json(), "what": what, "task": flags.as_json()}
    written = [] if out is None else _write(out, body, drawn)
    if json:
        print_json("explain", {**body, "written": [str(each) for each in written]}, seed=seed, samples=looked)
    else:
        _print(
            f"{what} on {flags.in_words()}",
            sentences,
            f"Written: {counted(len(written), 'file')} in {out}" if written else "",
        )


def _name(what: str, run: "Run | None") -> str:
    """What sentences call it."""
    if run is not None:
        return f"the trained {run.config.get('model', 'model')}"
    return Path(what).stem if what.endswith(SUFFIX) else Path(what).name


def _run(what: str) -> "Run | None":
    """The run that is meant; None if it is something else."""
    from ..runs import Run, Store

    if not what:
        raise ValueError("what is empty; expected a run, a model's file, a program's folder, or a predictor's name.")
    if os.path.exists(os.path.join(what, "config.json")):
        return Run(Path(what))
    if os.path.exists(what) or ":" in what:
        return None
    store = Store()
    return store.get(what) if any(run.name.startswith(what) for run in store.runs()) else None


def _subject(
    what: str, run: "Run | None", other: ShiftFlags, heads: int | None, kinds: tuple[str, ...]
) -> tuple[TaskFlags, Any]:
    """The task, and the model; None for one that is found by its name when the task is built."""
    path = Path(what)
    if run is not None:
        if heads is not None:
            raise ValueError(f"{what} is a run, whose model has its own heads; leave --heads out.")
        config = _config(what, run)
        allow(config.task, kinds)
        return other.applied(config.task), _of_run(run, config, kinds)
    if other.n is None or other.d is None:
        missing = "--d" if other.d is None else "--n"
        raise ValueError(
            f"{missing} is left out, and {what} is no run, which would know its task; expected --d and --n, and what "
            "else describes the task. `descant runs` lists runs."
        )
    flags = other.applied(TaskFlags(d=other.d, n=other.n))
    if path.is_dir():
        from ..programs import load

        return flags, load(path)
    if what.endswith(SUFFIX):
        from ..attention import load as load_model
        from ..programs import ProgramPredictor

        return flags, load_model(path, [*kinds, ProgramPredictor])
    return flags, None


def _config(what: str, run: "Run") -> TrainConfig:
    try:
        config = TrainConfig.from_json(run.config)
    except ValueError as error:
        raise ValueError(f"the run {what} was not made by descant train, or by another version: {error}") from None
    if not run.finished:
        raise ValueError(
            f"the run {what} is not finished; wait for it if it is still being trained, or run the same train command "
            "again, which goes on where it stopped."
        )
    run.check()
    return config


def _of_run(run: "Run", config: TrainConfig, kinds: tuple[str, ...]) -> Any:
    if config.start.source is not None:
        from ..programs import load

        return load(run.folder)
    return stored_model(run, config, tuple(name for name in kinds if name not in config.task.own_code()))


def _over_time(
    run: "Run", model: Any, task: "AbstractTask", contexts: int, key: Any, kinds: tuple[str, ...]
) -> "OverTime":
    import tempfile

    from ..attention import load
    from ..programs import CompiledProgram
    from ..readout import over_time

    kept = run.snapshots()
    if not kept:
        raise ValueError(
            f"the run {run.name} kept no models along the way: it is of an older version, or its model is large; train "
            "it again (--no-resume)."
        )
    rows = run.records()
    models = []
    with tempfile.TemporaryDirectory() as folder:
        for count, content in kept.items():
            file = Path(folder) / f"{count}{SUFFIX}"
            file.write_bytes(content)
            found = load(file, kinds)
            if isinstance(model, CompiledProgram):
                found = CompiledProgram(found, model.description)
            models.append((float(count), _label(rows[count - 1], count), found))
    last = len(rows)
    if models[-1][0] < last:
        models.append((float(last), _label(rows[-1], last), model))
    # Steps are counted anew at each level of a training that has such; rows never are.
    steps = all(row.get("step") is not None and row.get("level") is None for row in rows)
    if steps:
        models = [(float(rows[int(at) - 1]["step"]), label, found) for at, label, found in models]
    return over_time(models, task, unit="steps" if steps else "rows", contexts=min(contexts, MOST_OVER_TIME), key=key)


def _label(row: dict[str, Any], count: int) -> str:
    """Where in a training a row stands."""
    words = [f"step {row['step']}"] if row.get("step") is not None else [f"row {count}"]
    return " ".join([str(row["level"]), *words] if row.get("level") is not None else words)


def _print(head: str, sentences: tuple[str, ...], foot: str) -> None:
    from rich.console import Console
    from rich.text import Text

    first, *others = sentences
    styles = {head: "dim", first: "bold", foot: "dim"}
    for line in (head, first, *others, *([foot] if foot else [])):
        Console().print(Text(line, style=styles.get(line, "")), soft_wrap=True)


def _write(out: Path, body: dict[str, Any], drawn: tuple[Any, ...]) -> list[Path]:
    from .._disk import write_whole
    from .._plain import page
    from ..figures import drawing
    from ..figures.static import pictures

    files: dict[str, bytes | str] = {PAGE: page("explanation", body)}
    for figure in drawn:
        files |= {f"{figure.name}.{suffix}": content for suffix, content in pictures(drawing(figure)).items()}
    for name, content in files.items():
        write_whole(out / name, content)
    return [out / name for name in files]


def _reserve(out: Path, force: bool) -> None:
    from .._output import reserve
    from ..readout import FIGURES

    reserve(out, [PAGE, *(f"{name}.{suffix}" for name in FIGURES for suffix in ("png", "svg"))], force=force)
