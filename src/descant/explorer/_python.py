"""The Python that makes a figure of a page: what computes its numbers, and how it is drawn and kept."""

KEPT = """from pathlib import Path

from descant.figures.static import png

figure = {figure}
Path("{name}.png").write_bytes(png(figure))
"""


def written(computed: str, figure: str, name: str) -> str:
    """A program that computes something, then writes the figure that an expression of it makes."""
    return f"{computed.rstrip()}\n\n{KEPT.format(figure=figure, name=name)}"
