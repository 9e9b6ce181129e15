"""A page of one figure in one file: style, scripts, pictures and numbers are inside it, and nothing beside it."""

import base64
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ..figures import Figure
from ._assets import assets
from ._pages import render, some_rows
from ._tables import figure_csv

STYLES = ("fonts.css", "katex.css", "report.css")
SCRIPTS = ("katex.min.js", "d3.min.js", "plot.umd.min.js", "figures.js", "report.js")
# Cells from which a page would be slow: then it shows the still picture.
MOST_CELLS = 20_000


def figure_page(
    figure: Figure, ready: dict[str, Any], pictures: Mapping[str, bytes], facts: Mapping[str, str], command: str
) -> str:
    """The page, as HTML: `ready` and `pictures` are the figure made ready and drawn; `facts` stand in a list below."""
    files = assets()
    cells = sum(len(panel["rows"]) * len(panel["columns"]) for panel in ready["panels"] if panel["kind"] == "map")
    downloads = {
        "png": ("image/png", pictures["png"]),
        "svg": ("image/svg+xml", pictures["svg"]),
        "csv": ("text/csv", figure_csv(figure).encode()),
    }
    return render(
        "figure.html",
        figure=figure,
        ready=ready,
        alive=cells <= MOST_CELLS,
        rows=some_rows(figure),
        facts=facts,
        command=command,
        # A style sheet or a script can't hold the words that end it: none of ours does, and a test looks.
        theme=Markup(files["theme.js"].decode()),
        styles=[Markup(files[name].decode()) for name in STYLES],
        scripts=[Markup(files[name].decode()) for name in SCRIPTS],
        downloads={suffix: _address(*content) for suffix, content in downloads.items()},
        licenses=_address("text/plain;charset=utf-8", files["LICENSES.txt"]),
    )


def _address(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
