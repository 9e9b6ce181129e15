"""A figure as PNG and SVG, drawn with matplotlib from the same values as in the page; the same bits every time."""

import hashlib
import io
import math
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator
from scipy.interpolate import PchipInterpolator

from ._data import Figure
from ._drawing import BAND_FROM, DOT, drawing
from ._palette import HEAT_LIGHT, LIGHT, SYMBOLS
from ._static_map import INK, draw_map, draw_scale

DPI = 160
PANEL_INCHES = (4.4, 3.3)
WIDE_INCHES = (7.0, 3.6)  # alone in its row
NARROW_INCHES = (3.1, 2.9)  # from three columns on
TITLE_LETTERS = {1: 72, 2: 46}
NARROW_LETTERS = 32
LEGEND_LETTERS = 14  # per inch
HANDLE_LETTERS = 6  # as much room as a sign of the legend takes
# Points of matplotlib for a pixel of radius on the page.
DIAMETER = 1.125
CURVE_POINTS = 200
# Logarithmic axes within these limits have plain numbers, others powers of ten.
PLAIN = (1e-3, 1e4)
MARKERS = dict(zip(SYMBOLS, "os^D*vP", strict=True))
LOOK: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#6b7280",
    "axes.labelcolor": "#1f2933",
    "text.color": "#1f2933",
    "xtick.color": "#4b5563",
    "ytick.color": "#4b5563",
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-4, 5),
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "figure.facecolor": "white",
    "svg.hashsalt": "descant",
    "svg.fonttype": "path",
}
_HEAT = LinearSegmentedColormap.from_list("descant", HEAT_LIGHT)


def png(figure: Figure) -> bytes:
    """The picture of a figure, as the bytes of a PNG file."""
    return pictures(drawing(figure))["png"]


@cache
def drawer() -> str:
    """A digest of what draws, this file and matplotlib: another one may draw other pictures."""
    here = Path(__file__).parent
    own = b"".join((here / name).read_bytes() for name in ("static.py", "_static_map.py", "_palette.py"))
    return hashlib.sha256(own + mpl.__version__.encode()).hexdigest()


def pictures(ready: dict[str, Any]) -> dict[str, bytes]:
    """The bytes of both files, by suffix; `ready` is what `drawing` returned."""
    with mpl.rc_context():
        mpl.rcdefaults()
        for name, value in LOOK.items():
            mpl.rcParams[name] = value
        canvas = _canvas(ready)
        found = {}
        for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            file = io.BytesIO()
            canvas.savefig(file, format=suffix, dpi=DPI, metadata=metadata)
            found[suffix] = file.getvalue()
            canvas.set_layout_engine("none")  # found once, for both
    return found


def _canvas(ready: dict[str, Any]) -> Canvas:
    panels, columns = ready["panels"], ready["columns"]
    rows = math.ceil(len(panels) / columns)
    width, height = {1: WIDE_INCHES, 2: PANEL_INCHES}.get(columns, NARROW_INCHES)
    letters = TITLE_LETTERS.get(columns, NARROW_LETTERS)
    total = columns * width
    room = int(LEGEND_LETTERS * total)
    entries = [(_handle(entry), textwrap.fill(entry["label"], room - HANDLE_LETTERS)) for entry in ready["legend"]]
    longest = max((len(line) for _, label in entries for line in label.splitlines()), default=0)
    across = max(1, min(len(entries), room // (longest + HANDLE_LETTERS)))
    legend_height = 0.22 * math.ceil(len(entries) / across)
    canvas = Canvas(
        figsize=(total, rows * height + 0.4 + legend_height), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.07)
    )
    canvas.suptitle(textwrap.fill(ready["title"], int(10 * total)), fontsize=12)
    grid = canvas.subplots(rows, columns, squeeze=False)
    scales: list[Any] = []
    for axes, panel in zip(grid.flat, panels, strict=False):
        axes.set_title(textwrap.fill(panel["title"], letters))
        cells = {"heat": _heat_map, "map": draw_map, "plot": _plot}[panel["kind"]](axes, panel)
        if cells is not None:
            scales.append((axes, cells, panel["colour"]))
    for first in [each for index, each in enumerate(scales) if each[2] not in [other[2] for other in scales[:index]]]:
        draw_scale([axes for axes, _, colour in scales if colour == first[2]], *first[1:])
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    if entries:
        handles, labels = zip(*entries, strict=True)
        canvas.legend(handles, labels, loc="outside lower center", ncols=across)
    return canvas


def _digits(low: float, high: float) -> str:
    """First digits of the numbers that stand between the powers of ten, fewer on a longer axis."""
    return "123456789" if high < 4 * low else "235" if high < 100 * low else ""


def _plot(axes: Axes, panel: dict[str, Any]) -> None:
    for name, axis, scale, limit in (
        ("x", axes.xaxis, axes.set_xscale, axes.set_xlim),
        ("y", axes.yaxis, axes.set_yscale, axes.set_ylim),
    ):
        wanted = panel[name]
        scale("log" if wanted["log"] else "linear")
        limit(*wanted["limits"])
        axis.set_label_text(textwrap.fill(wanted["label"], 44))
        if wanted["whole"] and not wanted["log"]:
            axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        if wanted["log"] and PLAIN[0] <= wanted["limits"][0] and wanted["limits"][1] <= PLAIN[1]:
            shown = _digits(*wanted["limits"])
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(
                FuncFormatter(lambda value, _, shown=shown: f"{value:g}" if f"{value:e}"[0] in shown else "")
            )
        if wanted["ticks"]:
            positions, texts = zip(*wanted["ticks"], strict=True)
            axis.set_ticks(positions, labels=texts)
            axis.set_tick_params(which="minor", length=0)
            if name == "x" and sum(len(text) + 2 for text in texts) > 40:
                axes.tick_params(axis="x", rotation=30)
    if panel["shaded"]:
        axes.axvspan(*panel["shaded"], color="#9ca3af", alpha=0.18, linewidth=0)
    for baseline in panel["baselines"]:
        axes.axhline(
            baseline["y"], color=LIGHT[baseline["colour"]], linestyle=_dashes(baseline), linewidth=1.6, zorder=3
        )
    for series in panel["series"]:
        _series(axes, series)
    if panel["failed"]:
        lowest = [panel["y"]["limits"][0]] * len(panel["failed"])
        axes.plot(panel["failed"], lowest, linestyle="none", marker="x", color=INK, markersize=6, clip_on=False)


def _series(axes: Axes, series: dict[str, Any]) -> None:
    rows, colour = series["rows"], LIGHT[series["colour"]]
    if not rows:
        return
    x, y, low, high, error, left, right = zip(*rows, strict=True)
    if series["style"] == "bars":
        base = max(0.0, axes.get_ylim()[0]) if axes.get_yscale() == "log" else 0.0
        widths = [b - a for a, b in zip(left, right, strict=True)]
        axes.bar(left, [value - base for value in y], widths, base, align="edge", color=colour, alpha=0.85)
        x = [(a + b) / 2 for a, b in zip(left, right, strict=True)]
    else:
        axes.plot(*(_curve(axes, x, y) if series["curved"] else (x, y)), color=colour, **_line(series))
    if len(rows) > BAND_FROM and series["style"] in ("line", "dashed"):
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    elif any(error):
        bars = ([a - b for a, b in zip(y, low, strict=True)], [b - a for a, b in zip(y, high, strict=True)])
        ink = "#1f2933" if series["style"] == "bars" else colour
        axes.errorbar(x, y, bars, fmt="none", ecolor=ink, elinewidth=1.1, capsize=2)


def _curve(axes: Axes, x: Sequence[float], y: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Many points of the monotone curve through a few, as it is seen on these axes."""
    across, up = (
        (np.log, np.exp) if scale == "log" else (np.asarray, np.asarray)
        for scale in (axes.get_xscale(), axes.get_yscale())
    )
    places = across[0](np.asarray(x, dtype=float))
    between = np.linspace(places[0], places[-1], CURVE_POINTS)
    heights = PchipInterpolator(places, up[0](np.asarray(y, dtype=float)))(between)
    return across[1](between), up[1](heights)


def _line(series: dict[str, Any]) -> dict[str, Any]:
    marker = MARKERS[SYMBOLS[series["symbol"]]]
    return {
        "line": {"linestyle": "-"},
        "dashed": {"linestyle": "--"},
        "points": {"linestyle": "none", "marker": marker, "markersize": DIAMETER * series.get("size", DOT)},
        "both": {"linestyle": "-", "marker": marker, "markersize": DIAMETER * series.get("size", DOT)},
    }[series["style"]]


def _dashes(baseline: dict[str, Any]) -> tuple[float, tuple[float, ...]]:
    return 0.0, tuple(length / 2 for length in baseline["dash"])


def _handle(entry: dict[str, Any]) -> Line2D | Patch:
    colour = LIGHT[entry["colour"]]
    if entry["style"] == "bars":
        return Patch(color=colour, alpha=0.85)
    if entry["style"] == "baseline":
        return Line2D([], [], color=colour, linestyle=_dashes(entry))
    if entry["style"] == "contour":
        return Line2D([], [], color=INK, linewidth=1.0)
    if entry["style"] == "failed":
        return Line2D([], [], color=INK, linestyle="none", marker="x", markersize=6)
    return Line2D([], [], color=colour, **_line(entry))


def _heat_map(axes: Axes, panel: dict[str, Any]) -> None:
    values = [[math.nan if value is None else value for value in row] for row in panel["values"]]
    limit = panel["limit"]
    axes.grid(False)
    image = axes.imshow(values, cmap=_HEAT, vmin=-limit, vmax=limit, interpolation="nearest")
    for axis, names in ((axes.xaxis, panel["columns"]), (axes.yaxis, panel["rows"])):
        step = max(1, math.ceil(len(names) / 12))
        axis.set_ticks(range(0, len(names), step), labels=names[::step])
    if sum(len(name) + 2 for name in panel["columns"]) > 36:
        axes.tick_params(axis="x", rotation=45)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
