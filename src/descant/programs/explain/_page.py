"""The picture and the words as one page that needs nothing else."""

from html import escape

from .._compiled import CompiledProgram
from ._picture import as_svg
from ._text import in_words

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ margin: 0 auto; max-width: 1340px; font: 16px/1.5 system-ui, sans-serif; color: #1c2430; padding: 12px; }}
svg {{ max-width: 100%; height: auto; }}
pre {{ background: #f3f5f8; padding: 14px; overflow-x: auto; white-space: pre-wrap; font-size: 14px; }}
</style>
</head>
<body>
{picture}
<details><summary>The same in words</summary><pre>{words}</pre></details>
</body>
</html>
"""


def as_html(compiled: CompiledProgram) -> str:
    """The network, its picture and its words, as one HTML page that needs no other file."""
    title = f"{compiled.description.program}, compiled"
    return PAGE.format(title=escape(title), picture=as_svg(compiled), words=escape(in_words(compiled)))
