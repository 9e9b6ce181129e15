"""Compiled programs for people: in words, as a picture, as a page."""

from ._page import as_html as as_html
from ._picture import as_svg as as_svg
from ._text import in_words as in_words
