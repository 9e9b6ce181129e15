"""The picture of a compiled program: H between the blocks, and beside each arrow what the heads do.

Top to bottom in time. Columns of H are drawn where they are; a value keeps its colour wherever it goes, so that a
person can follow it with the eye. The whole is as wide as a column of text, so that its letters can be read there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from ..._counted import counted
from ...attention import ELSABlock, Repeated
from .._compiled import CompiledProgram
from .._description import BlockText, HeadText, Rectangle

MARGIN, GAP = 28, 20
STATE_WIDTH, LINE, SMALL = 700, 21, 13
WIDTH = STATE_WIDTH + 2 * MARGIN
# What heads do stands to the right of the arrow.
ARROW, TEXT_LEFT = MARGIN + 14, MARGIN + 44
CHARACTERS = 78
PALETTE = (
    *("#a8c8e8", "#f5c396", "#a9d8a4", "#e3a9b8", "#cdb8e5", "#d9c9a3", "#9fd6d2", "#e6e08a"),
    *("#b8c4d6", "#f0b0a0", "#c3dd9c", "#d8b4d8", "#b5d3e0", "#e0cdb0"),
)


@dataclass
class _Canvas:
    """Shapes so far, and how far down the next one goes."""

    shapes: list[str]
    y: float = MARGIN

    def text(
        self, x: float, y: float, words: str, *, size: int = SMALL, anchor: str = "start", style: str = ""
    ) -> None:
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{style}>{words}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        self.shapes.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {style}/>')


def as_svg(compiled: CompiledProgram) -> str:
    """The picture as SVG, without anything from outside."""
    return _Picture(compiled).draw()


class _Picture:
    def __init__(self, compiled: CompiledProgram):
        self.compiled, self.description = compiled, compiled.description
        self.canvas = _Canvas([])
        self.colours: dict[str, str] = {}
        # To scale, but every column wide enough to see and every H flat enough to fit.
        self.column = STATE_WIDTH / self.description.columns
        self.height = min(150.0, max(64.0, 7.0 * self.description.rows))

    def draw(self) -> str:
        self._title()
        first = self.description.blocks[0].before
        self._state(list(first), "H at the start")
        self._layers(self.compiled.network.blocks, iter(enumerate(self.description.blocks, 1)), 0)
        self._outputs()
        height = self.canvas.y + MARGIN
        body = "\n".join(self.canvas.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
            f'height="{height:.0f}" font-family="ui-sans-serif, system-ui, Helvetica, Arial, sans-serif" '
            f'fill="#1c2430">\n<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
        )

    def _title(self) -> None:
        canvas, sizes = self.canvas, self.compiled.sizes
        settings = ", ".join(f"{name} = {value:g}" for name, value in self.description.settings)
        canvas.text(MARGIN, canvas.y + 10, escape(self.description.program), size=22, style=' font-weight="600"')
        canvas.text(MARGIN, canvas.y + 34, escape(settings), size=14)
        lines = (
            f"H is {sizes.rows} × {sizes.columns}; {sizes.run}, {sizes.distinct_blocks} of them different",
            f"{counted(sizes.parameters, 'parameter')}, {sizes.nonzeros} not zero",
        )
        for below, words in zip((54, 73), lines, strict=True):
            canvas.text(MARGIN, canvas.y + below, words, size=14, style=' fill="#566070"')
        canvas.y += 101

    def _layers(self, layers: tuple, texts: Iterator[tuple[int, BlockText]], depth: int) -> None:
        for layer in layers:
            if isinstance(layer, ELSABlock):
                number, block = next(texts)
                self._block(number, block)
            else:
                self._repeated(layer, texts, depth)

    def _repeated(self, layer: Repeated, texts: Iterator[tuple[int, BlockText]], depth: int) -> None:
        canvas = self.canvas
        top, index = canvas.y, len(canvas.shapes)
        canvas.y += 34
        self._layers(layer.blocks, texts, depth + 1)
        inset = 8 + 7 * depth
        width = WIDTH - 2 * inset
        frame = (
            f'<rect x="{inset}" y="{top:.1f}" width="{width}" height="{canvas.y - top + 4:.1f}" rx="10" '
            'fill="#f3f5f8" stroke="#8b97a8" stroke-dasharray="6 4"/>'
        )
        label = f"{layer.count} times, with the same weights"
        canvas.shapes.insert(index, frame)
        canvas.text(MARGIN, top + 22, label, size=15, style=' font-weight="600" fill="#3d4a5c"')
        canvas.y += GAP

    def _block(self, number: int, block: BlockText) -> None:
        canvas = self.canvas
        top = canvas.y
        lines = [(head, _wrapped(head)) for head in block.heads]
        height = max(44, 30 + sum(LINE * (len(texts) + 1) + 10 for _, texts in lines))
        canvas.shapes.append(
            f'<path d="M {ARROW} {top + 2:.1f} V {top + height - 10:.1f} m -6 -7 l 6 8 l 6 -8" fill="none" '
            'stroke="#566070" stroke-width="2"/>'
        )
        y = top + 16
        words = f"block {number}, {counted(len(block.heads), 'head')}"
        canvas.text(TEXT_LEFT, y, words, size=15, style=' font-weight="600" fill="#3d4a5c"')
        y += 22
        for index, (head, texts) in enumerate(lines, 1):
            self._head(index, head, texts, y)
            y += LINE * (len(texts) + 1) + 10
        canvas.y = top + height
        self._state(list(block.after), "")

    def _head(self, index: int, head: HeadText, texts: list[str], y: float) -> None:
        canvas = self.canvas
        canvas.box(TEXT_LEFT, y - 14, 58, 19, 'rx="4" fill="#3d4a5c"')
        canvas.text(TEXT_LEFT + 29, y, f"head {index}", size=12, anchor="middle", style=' fill="#ffffff"')
        x = TEXT_LEFT + 68.0
        for name in head.reads:
            canvas.box(x, y - 11, 13, 13, f'rx="2" fill="{self._colour(name)}" stroke="#5b6675"')
            x += 17
        canvas.text(x + 2, y, f"reads {escape(', '.join(head.reads) or 'nothing')}", style=' fill="#566070"')
        for line, words in enumerate(texts, 1):
            canvas.text(TEXT_LEFT + 68, y + LINE * line, escape(words), size=15)

    def _state(self, rectangles: list[Rectangle], label: str) -> None:
        canvas, description = self.canvas, self.description
        if label:
            canvas.text(MARGIN, canvas.y + 12, label, size=13, style=' fill="#566070"')
            canvas.y += 20
        top = canvas.y
        canvas.box(MARGIN, top, STATE_WIDTH, self.height, 'fill="#ffffff" stroke="#3d4a5c" stroke-width="1.5"')
        for each in rectangles:
            x, width = MARGIN + each.column * self.column, each.width * self.column
            height = self.height * each.rows / description.rows
            colour = self._colour(each.name)
            canvas.box(x + 0.8, top + 0.8, width - 1.6, height - 1.6, f'fill="{colour}" stroke="#5b6675"')
        rows = self._names(rectangles, top)
        canvas.y = top + self.height + (18 * rows + 6 if rows else 0) + 8

    def _names(self, rectangles: list[Rectangle], top: float) -> int:
        """Names inside where they fit; otherwise below, with a thin lead. The number of lines below."""
        canvas = self.canvas
        ends: list[float] = []
        for each in sorted(rectangles, key=lambda each: each.column):
            x, width = MARGIN + each.column * self.column, each.width * self.column
            height = self.height * each.rows / self.description.rows
            size = f"{each.rows} × {each.width}"
            need = 8.2 * max(len(each.name), len(size)) + 6
            one_line = f"{each.name}  {size}"
            if height >= 20 and 7.6 * len(one_line) + 4 <= width and height < 36:
                canvas.text(x + width / 2, top + height / 2 + 5, escape(one_line), anchor="middle")
                continue
            if need <= width and height >= 36:
                middle = top + min(height, 90) / 2
                canvas.text(
                    x + width / 2, middle, escape(each.name), size=15, anchor="middle", style=' font-weight="600"'
                )
                canvas.text(x + width / 2, middle + 16, size, size=12, anchor="middle", style=' fill="#3d4a5c"')
                continue
            words = one_line
            length = 7.4 * len(words)
            at = min(max(x + width / 2, MARGIN + length / 2), MARGIN + STATE_WIDTH - length / 2)
            row = next((i for i, end in enumerate(ends) if end < at - length / 2 - 6), len(ends))
            ends[row : row + 1] = [at + length / 2]
            y = top + self.height + 17 + 18 * row
            canvas.shapes.append(
                f'<path d="M {x + width / 2:.1f} {top + min(height, self.height) - 4:.1f} V {y - 12:.1f}" '
                'stroke="#5b6675" stroke-width="1" fill="none"/>'
            )
            canvas.text(at, y, escape(words), anchor="middle")
        return len(ends)

    def _colour(self, name: str) -> str:
        if name not in self.colours:
            self.colours[name] = PALETTE[len(self.colours) % len(PALETTE)]
        return self.colours[name]

    def _outputs(self) -> None:
        names = ", ".join(f"{each.name} ({each.rows} × {each.width})" for each in self.description.outputs)
        self.canvas.text(MARGIN, self.canvas.y + 12, f"read at the end: {escape(names)}", size=14)
        self.canvas.y += 20


def _wrapped(head: HeadText) -> list[str]:
    """The formula, broken between its parts."""
    lines: list[str] = []
    for part in head.formula.split("; "):
        while len(part) > CHARACTERS:
            cut = part.rfind(" ", 0, CHARACTERS)
            cut = cut if cut > 0 else CHARACTERS
            lines.append(part[:cut])
            part = "    " + part[cut:].strip()
        lines.append(part)
    return lines or [""]
