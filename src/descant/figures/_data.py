"""What a figure shows: panels with series and baselines, heat maps, and words."""

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
    """One pair of axes. `shaded` is an interval of x that means something (say what in `see` of the figure)."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    baselines: tuple[Baseline, ...] = ()
    shaded: tuple[float, float] | None = None


@dataclass(frozen=True)
class HeatMap:
    """A matrix by colour, symmetric around zero: `values` by rows; `rows` and `columns` are their names, 1, 2, ..."""

    title: str
    values: tuple[tuple[float, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "values", tuple(tuple(float(value) for value in row) for row in self.values))


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
    panels: tuple[Panel | HeatMap, ...]
    columns: int = 2
    shared: bool = False
