"""What a figure shows: panels with series and baselines, heat maps, maps over two axes, and words."""

from dataclasses import dataclass
from typing import Literal

Style = Literal["line", "points", "both", "dashed", "bars"]


@dataclass(frozen=True)
class Axis:
    """An axis with its label, units included. `ticks` are (position, text) where numbers would say less.

    `limits` are for values that would make an axis too long to see anything on it: what lies beyond is not drawn, is
    counted below the figure, and stands in its numbers.
    """

    label: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """Points (x, y). `error` has the standard errors of y, if it has any.

    Series of one `family` share a colour across the panels of a figure; by default the label is the family. One that is
    not `listed` is left out of the legend: `see` of the figure says what it is.

    **Arguments:** `x`, `y` and `error` are numbers of any kind, as many of each or no errors; else a `ValueError`.

    >>> Series("least squares", x=(1, 2), y=(0.5, 0.25)).y
    (0.5, 0.25)
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    error: tuple[float, ...] = ()
    style: Style = "both"
    family: str = ""
    listed: bool = True

    def __post_init__(self):
        object.__setattr__(self, "x", tuple(float(value) for value in self.x))
        object.__setattr__(self, "y", tuple(float(value) for value in self.y))
        object.__setattr__(self, "error", tuple(float(value) for value in self.error))
        if len(self.x) != len(self.y) or len(self.error) not in (0, len(self.y)):
            raise ValueError(
                f"series {self.label!r} has {len(self.x)} x, {len(self.y)} y and {len(self.error)} errors; expected as "
                "many of each, or no errors."
            )


@dataclass(frozen=True)
class Baseline:
    """A horizontal line with its meaning: a bound, a closed form, a baseline; `listed` as for a series."""

    label: str
    y: float
    family: str = ""
    listed: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `shaded` is an interval of x that means something (say what in `see` of the figure).

    `failed` are places of x where there should be a point and is none: crosses on the lower edge.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    baselines: tuple[Baseline, ...] = ()
    shaded: tuple[float, float] | None = None
    failed: tuple[float, ...] = ()


@dataclass(frozen=True)
class HeatMap:
    """A matrix by colour, symmetric around zero: `values` by rows; `rows` and `columns` are their names, 1, 2, ..."""

    title: str
    values: tuple[tuple[float, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "values", tuple(tuple(float(value) for value in row) for row in self.values))


Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Map:
    """A number over two axes by colour, or, with `names`, which of several things is where: values are their places.

    **Arguments:** `columns` and `rows` are the places on the axes, rising; `values` by rows, NaN where there is none,
    and `errors` their standard errors; `colour` is the axis of the values. `theory`, by rows too, is drawn as contour
    lines. `failed` are the cells, (row, column), where there should be a value and is none: they have a cross.

    >>> Map("risk", Axis("noise"), Axis("mean"), (0, 1), (0, 1), ((1, 2), (3, 4)), Axis("risk")).values[1]
    (3.0, 4.0)
    """

    title: str
    x: Axis
    y: Axis
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    values: Rows
    colour: Axis
    names: tuple[str, ...] = ()
    errors: Rows = ()
    theory: Rows = ()
    failed: tuple[tuple[int, int], ...] = ()

    def __post_init__(self):
        for name in ("columns", "rows"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        for name in ("values", "errors", "theory"):
            matrix = tuple(tuple(float(value) for value in row) for row in getattr(self, name))
            object.__setattr__(self, name, matrix)
            sizes = {len(row) for row in matrix}
            if (name == "values" or matrix) and (len(matrix) != len(self.rows) or sizes != {len(self.columns)}):
                raise ValueError(
                    f"{name} of the map {self.title!r} has {len(matrix)} rows of {sorted(sizes)} values; expected "
                    f"{len(self.rows)} rows of {len(self.columns)}."
                )


@dataclass(frozen=True)
class Figure:
    """Panels under one title. `name` is the stem of its files; `see` says in a sentence or two what to see in it.

    If they are `shared`, panels side by side have the same axes, which is for panels of the same quantities.

    >>> line = Series("risk", x=(1, 2, 4), y=(1.0, 0.5, 0.25))
    >>> panel = Panel("of least squares", Axis("n", log=True), Axis("risk", log=True), (line,))
    >>> Figure("risk", "Risk falls", "It falls like 1/n: a straight line.", (panel,)).columns
    2
    """

    name: str
    title: str
    see: str
    panels: tuple[Panel | HeatMap | Map, ...]
    columns: int = 2
    shared: bool = False
