"""Colours, in a light and a dark variant of the same hues.

Neighbours in the list differ in lightness as well as in hue, so that they are told apart with every kind of colour vision; every
colour has a contrast of at least 3 to its background (tested). A family beyond the eighth shares a colour but has another
symbol.
"""

LIGHT = ("#0072b2", "#c8500a", "#00805e", "#a8508a", "#7a6a00", "#3f2a94", "#2a8ca8", "#5f6670")
DARK = ("#5ab4f0", "#ff8a4c", "#3dc9a0", "#e48bc4", "#d8c34a", "#a99bff", "#7fd3e6", "#aeb6c2")
# From negative through zero to positive.
HEAT_LIGHT = ("#0b4f8a", "#6faed6", "#f5f3ee", "#f0a070", "#a83400")
HEAT_DARK = ("#8cc8f5", "#2f78ad", "#23272e", "#b9592b", "#ffb07c")
PAGE_LIGHT, PAGE_DARK = "#ffffff", "#1b1f26"
# Names that both drawings know.
SYMBOLS = ("circle", "square", "triangle", "diamond2", "star", "wye", "cross")
