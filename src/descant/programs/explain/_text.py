"""A compiled program in words."""

from collections.abc import Iterator

from ..._counted import counted
from ...attention import ELSABlock, Repeated
from .._compiled import CompiledProgram
from .._description import BlockText, Rectangle


def in_words(compiled: CompiledProgram) -> str:
    """Sizes, where the inputs are, and what every head reads, multiplies and writes."""
    description, sizes = compiled.description, compiled.sizes
    settings = ", ".join(f"{name} = {value:g}" for name, value in description.settings)
    lines = [
        f"{description.program}({settings})",
        f"H has {counted(sizes.rows, 'row')} and {counted(sizes.columns, 'column')}. {sizes.run}; "
        f"{sizes.distinct_blocks} of the blocks {'is' if sizes.distinct_blocks == 1 else 'are'} different, with "
        f"{counted(sizes.parameters, 'parameter')}, {sizes.nonzeros} of them not zero.",
        "",
        f"in:  {_listed([each for each in description.inputs if each.column >= 0])}",
        *_layers(compiled.network.blocks, iter(enumerate(description.blocks, 1)), ""),
        f"out: {_listed(list(description.outputs))}",
    ]
    return "\n".join(lines)


def _layers(layers: tuple[ELSABlock | Repeated, ...], texts: Iterator[tuple[int, BlockText]], indent: str) -> list[str]:
    lines = []
    for layer in layers:
        if isinstance(layer, Repeated):
            lines.append(f"{indent}{layer.count} times, with the same weights:")
            lines += _layers(layer.blocks, texts, indent + "  ")
            continue
        number, block = next(texts)
        lines.append(f"{indent}block {number}")
        for index, head in enumerate(block.heads, 1):
            reads = f"reads {', '.join(head.reads)}" if head.reads else "reads nothing"
            lines.append(f"{indent}  head {index}: {reads}: {head.formula}")
        lines.append(f"{indent}  then H holds {_listed(list(block.after))}")
    return lines


def _listed(rectangles: list[Rectangle]) -> str:
    words = [
        f"{each.name} ({each.rows} x {each.width}) in column{'s' * (each.width > 1)} {_range(each)}"
        for each in sorted(rectangles, key=lambda each: each.column)
    ]
    return ", ".join(words) or "nothing"


def _range(each: Rectangle) -> str:
    last = each.column + each.width - 1
    return str(each.column) if last == each.column else f"{each.column} to {last}"
