"""The report: pages that open from disk, and the verdicts as JSON.

What writes it draws pictures, and is loaded when it is first used; the style and scripts of its pages don't wait for
that.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._assets import assets as assets

if TYPE_CHECKING:
    from ._figure_page import figure_page as figure_page
    from ._tables import figure_csv as figure_csv
    from ._write import NAMES as NAMES, draw_figures as draw_figures, write_report as write_report

_HOME = {
    "figure_page": "_figure_page",
    "figure_csv": "_tables",
    **dict.fromkeys(("NAMES", "draw_figures", "write_report"), "_write"),
}


def __getattr__(name: str):
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
