"""Figures as data, made ready to be drawn once for all drawers; `figures.static` draws them as PNG and SVG."""

import logging

from ._bare import bare as bare
from ._data import (
    Axis as Axis,
    Baseline as Baseline,
    Figure as Figure,
    HeatMap as HeatMap,
    Map as Map,
    Panel as Panel,
    Series as Series,
)
from ._drawing import drawing as drawing
from ._palette import (
    DARK as DARK,
    HEAT_DARK as HEAT_DARK,
    HEAT_LIGHT as HEAT_LIGHT,
    LIGHT as LIGHT,
    PAGE_DARK as PAGE_DARK,
    PAGE_LIGHT as PAGE_LIGHT,
    SCALE_DARK as SCALE_DARK,
    SCALE_LIGHT as SCALE_LIGHT,
    SYMBOLS as SYMBOLS,
)

# That matplotlib looks for the machine's fonts, the first time, is nobody's concern; `static` imports it.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
