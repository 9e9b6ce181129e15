"""Colours, in a light and a dark variant of about the same hues.

Found by a search that keeps any two of them apart for every kind of colour vision, and all of them at a contrast of 3
or more to their background (both are tested). A family beyond the eighth shares a colour but has another symbol.
"""

# Curves and bars, family by family.
LIGHT = ("#5167b9", "#d07c12", "#769a6d", "#7a1461", "#724c01", "#4720b0", "#0f9fb2", "#49422e")
# The same on a dark page.
DARK = ("#5d81c2", "#cd652a", "#9bde9f", "#c58fb1", "#cbd840", "#9378fc", "#07e1ff", "#89816b")
# From negative through zero to positive.
HEAT_LIGHT = ("#0b4f8a", "#6faed6", "#f5f3ee", "#f0a070", "#a83400")
# The same on a dark page.
HEAT_DARK = ("#8cc8f5", "#2f78ad", "#23272e", "#b9592b", "#ffb07c")
# From the least to the largest; lightness changes one way, so that it can be read without hues.
SCALE_LIGHT = ("#f7f2e3", "#c3dcbf", "#6fb5ae", "#3279a6", "#232f6b")
# The same on a dark page.
SCALE_DARK = ("#262c45", "#2b5f8a", "#3c9aa0", "#97cf9f", "#fbf3c4")
# The page that the light colours stand on.
PAGE_LIGHT = "#ffffff"
# The page that the dark variants stand on.
PAGE_DARK = "#1b1f26"
# Baselines: strokes and gaps in units of half a line, so that one can be told from another without colours.
BASELINES = ((2, 3), (9, 3), (9, 3, 2, 3), (2, 7))
# Names that both drawings know.
SYMBOLS = ("circle", "square", "triangle", "diamond2", "star", "wye", "cross")
