"""`descant plot`: the picture of a sweep."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

from cyclopts import Parameter

from ._flags import Force, Json
from ._printing import print_json

AXES = ("x", "y", "colour", "panels", "best")
SUFFIXES = ("html", "png", "svg", "csv")
# What the values of our own questions are called.
MEANINGS = {"descant.cli._points:RISK": "risk", "descant.cli._trainings:TRAIN": "risk after training"}


def plot(
    sweep: str,
    /,
    *,
    x: str | None = None,
    y: str | None = None,
    colour: Annotated[str | None, Parameter(name=("--colour", "--color"))] = None,
    panels: str | None = None,
    best: str | None = None,
    column: str = "value",
    where: Annotated[tuple[str, ...], Parameter(negative_iterable="")] = (),
    log: bool | None = None,
    out: Path = Path("plots"),
    name: str | None = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Draw a sweep: curves, or a map by colour with contour lines of exact theory; as a page, PNG, SVG and CSV.

    Axes that are not named are chosen: long ones are those of the picture, short ones make curves and panels, and what
    is left over is held at its first place. Points that failed have crosses.

    Parameters
    ----------
    sweep
        The name of a sweep, or its folder, its table, or an address of either that fsspec knows.
    x
        The axis that goes to the right, as task.noise or just noise.
    y
        The axis that goes up, in a map.
    colour
        The axis with a curve for each of its places.
    panels
        The axis with a panel for each of its places.
    best
        The axis whose places compete: the map says which of them has the least value.
    column
        The column of the table that is drawn.
    where
        Hold an axis at a place, as noise=0.5; may be given again.
    log
        Whether the values have a logarithmic scale; left out, they do if they are positive and differ much.
    out
        Folder for the files.
    name
        Their name; left out, that of the sweep.
    force
        Write over files in OUT that Descant did not write.
    """
    from .._disk import write_whole
    from .._names import file_name
    from .._output import reserve
    from ..figures import drawing
    from ..figures.static import pictures
    from ..report import figure_csv, figure_page
    from ..sweeps import View, picture

    table, about = _table(sweep)
    view = View(
        x=x, y=y, colour=colour, panels=panels, best=best, column=column, log=log, where=dict(map(_held, where))
    )
    found = picture(table, about, view, MEANINGS.get(about["evaluator"], "value"))
    stem = file_name("--name", name if name is not None else about["name"] or "sweep")
    files = [f"{stem}.{suffix}" for suffix in SUFFIXES]
    reserve(out, files, force=force)
    ready = drawing(found.figure)
    drawn = pictures(ready)
    facts = {"Evaluator": about["evaluator"], **{field: str(value) for field, value in about["base"].items()}}
    page = figure_page(found.figure, ready, drawn, facts, _command(sweep, view))
    contents = {"html": page, "csv": figure_csv(found.figure), **drawn}
    for suffix, file in zip(SUFFIXES, files, strict=True):
        write_whole(out / file, contents[suffix])
    if json:
        body = {"name": stem, "title": found.figure.title, "notes": list(found.notes)}
        print_json("plot", {**body, "files": [str(out / file) for file in files]})
        return
    for note in (found.figure.title, *found.notes):
        print(note)
    print(f"Written: {', '.join(str(out / file) for file in files)}")


def _command(sweep: str, view: Any) -> str:
    """The command that draws the same picture."""
    flags = [f"--{name} {quote(value)}" for name in AXES if (value := getattr(view, name))]
    flags += [f"--where {quote(f'{field}={place}')}" for field, place in view.where.items()]
    flags += [] if view.column == "value" else [f"--column {quote(view.column)}"]
    flags += [] if view.log is None else ["--log" if view.log else "--no-log"]
    return " ".join(["descant plot", quote(sweep), *flags])


def _held(text: str) -> tuple[str, str]:
    field, sign, place = text.partition("=")
    if not sign or not field or not place:
        raise ValueError(f"--where is {text!r}; expected an axis and a place on it, as noise=0.5.")
    return field, place


def _table(sweep: str):
    """The table of a sweep by its name, if there is one in the folder of sweeps, else by its place."""
    from ..sweeps import Store, default_root, read_table

    if not sweep:
        raise ValueError("the sweep is ''; expected its name, its folder or its table.")
    if "/" not in sweep and not sweep.endswith(".parquet"):
        root = Store(default_root())
        if root.read(f"{sweep}/results.parquet") is not None:
            return read_table(root.place(sweep))
    return read_table(sweep)
