"""A map over two axes, drawn with matplotlib."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, LogNorm, Normalize
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ._palette import LIGHT, SCALE_LIGHT

INK = "#1f2933"
# Scales over less than this factor have numbers between the powers of ten.
MINOR = 20
_SCALE = LinearSegmentedColormap.from_list("descant-scale", SCALE_LIGHT)
_HALO = [withStroke(linewidth=2.4, foreground="white", alpha=0.75)]


def draw_map(axes: Axes, panel: dict[str, Any]) -> ScalarMappable | None:
    """Cells, contour lines with their levels, crosses where a point failed; what a bar of colours is made of."""
    axes.grid(False)
    for name, axis, scale in (("x", axes.xaxis, axes.set_xscale), ("y", axes.yaxis, axes.set_yscale)):
        wanted = panel[name]
        scale("log" if wanted["log"] else "linear")
        axis.set_label_text(textwrap.fill(wanted["label"], 44))
        if wanted["ticks"]:
            step = max(1, math.ceil(len(wanted["ticks"]) / 14))
            positions, texts = zip(*wanted["ticks"][::step], strict=True)
            axis.set_ticks(positions, labels=texts)
            axis.set_tick_params(which="minor", length=0)
            if name == "x" and sum(len(text) + 2 for text in texts) > 36:
                axes.tick_params(axis="x", rotation=30)
        elif wanted["whole"] and not wanted["log"]:
            axis.set_major_locator(MaxNLocator("auto", integer=True))
        elif wanted["log"]:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    values = np.ma.masked_invalid(
        [[math.nan if value is None else value for value in row] for row in panel["values"]], copy=False
    )
    low, high = panel["colour"]["limits"]
    if panel["names"]:
        shades, norm = ListedColormap(LIGHT), Normalize(-0.5, len(LIGHT) - 0.5)
        values = values % len(LIGHT)
    else:
        shades, norm = _SCALE, LogNorm(low, high) if panel["colour"]["log"] else Normalize(low, high)
    # As one image also in an SVG: cells as shapes have hairs between them, and are many.
    cells = axes.pcolormesh(
        panel["across"],
        panel["up"],
        values,
        cmap=shades,
        norm=norm,
        rasterized=True,
        alpha=0.85 if panel["names"] else 1,
    )
    for contour in panel["contours"]:
        for line in contour["lines"]:
            axes.plot(*zip(*line, strict=True), color=INK, linewidth=1.0, path_effects=_HALO)
        longest = max(contour["lines"], key=len)
        x, y = longest[len(longest) // 2]
        axes.text(x, y, contour["text"], fontsize=7.5, ha="center", va="center", color=INK, path_effects=_HALO)
    if panel["failed"]:
        rows, columns = zip(*panel["failed"], strict=True)
        places = [panel["columns"][column] for column in columns], [panel["rows"][row] for row in rows]
        axes.plot(*places, linestyle="none", marker="x", color=INK, markersize=5, path_effects=_HALO)
    axes.set_xlim(*panel["x"]["limits"])
    axes.set_ylim(*panel["y"]["limits"])
    return None if panel["names"] else cells


def draw_scale(axes: Sequence[Axes], cells: ScalarMappable, colour: dict[str, Any]) -> None:
    """One bar of colours for all maps that share them."""
    bar = axes[0].figure.colorbar(cells, ax=list(axes), label=textwrap.fill(colour["label"], 44), aspect=30)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    low, high = colour["limits"]
    if colour["log"]:
        axis = bar.ax.yaxis
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
        few = high < MINOR * low
        axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:.3g}" if few else ""))
