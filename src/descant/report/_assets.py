"""What the pages need beside them: style, scripts, and the third-party files of `vendor/`.

Fonts are put into the style sheets themselves: browsers that treat every file on disk as an origin of its own (Firefox)
would not load them otherwise.
"""

import base64
import re
from pathlib import Path

from ..figures import DARK, HEAT_DARK, HEAT_LIGHT, LIGHT, PAGE_DARK, PAGE_LIGHT, SCALE_DARK, SCALE_LIGHT

HERE = Path(__file__).parent
VENDOR = HERE / "vendor"
_LATIN = "U+0000-00FF,U+0131,U+0152-0153,U+02C6,U+02DA,U+02DC,U+2000-206F,U+2122,U+2191,U+2193,U+2212,U+2215"
_GREEK = "U+0370-03FF"
_FONTS = (
    ("Inter", "normal", "inter-latin-wght-normal", _LATIN),
    ("Inter", "italic", "inter-latin-wght-italic", _LATIN),
    ("Inter", "normal", "inter-greek-wght-normal", _GREEK),
    ("Source Serif 4", "normal", "source-serif-4-latin-wght-normal", _LATIN),
    ("Source Serif 4", "normal", "source-serif-4-greek-wght-normal", _GREEK),
)


def assets() -> dict[str, bytes]:
    """Content by the name of the file."""
    return {
        "report.css": (_colours() + "\n" + (HERE / "static" / "report.css").read_text()).encode(),
        "theme.js": (HERE / "static" / "theme.js").read_bytes(),
        "report.js": (HERE / "static" / "report.js").read_bytes(),
        "figures.js": (HERE / "static" / "figures.js").read_bytes(),
        "fonts.css": "\n".join(_face(*font) for font in _FONTS).encode(),
        "katex.css": _katex().encode(),
        "katex.min.js": (VENDOR / "katex" / "katex.min.js").read_bytes(),
        "d3.min.js": (VENDOR / "d3.min.js").read_bytes(),
        "plot.umd.min.js": (VENDOR / "plot.umd.min.js").read_bytes(),
        "LICENSES.txt": _licenses().encode(),
    }


def _colours() -> str:
    """The palette as properties of the page, the same for pages and figures; the browser picks light or dark."""
    named = {
        "card": (PAGE_LIGHT, PAGE_DARK),
        **{f"series-{index}": pair for index, pair in enumerate(zip(LIGHT, DARK, strict=True))},
        **{f"heat-{index}": pair for index, pair in enumerate(zip(HEAT_LIGHT, HEAT_DARK, strict=True))},
        **{f"scale-{index}": pair for index, pair in enumerate(zip(SCALE_LIGHT, SCALE_DARK, strict=True))},
    }
    return (
        ":root {" + " ".join(f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in named.items()) + "}"
    )


def _embedded(path: Path) -> str:
    return f"url(data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}) format('woff2')"


def _face(family: str, style: str, name: str, characters: str) -> str:
    return (
        f"@font-face {{ font-family: '{family}'; font-style: {style}; font-weight: 100 900; font-display: swap; "
        f"src: {_embedded(VENDOR / 'fonts' / f'{name}.woff2')}; unicode-range: {characters}; }}"
    )


def _katex() -> str:
    """KaTeX's style sheet with its fonts inside, and without the older formats of them."""
    text = (VENDOR / "katex" / "katex.min.css").read_text()
    pattern = r"src:url\((fonts/[^)]*\.woff2)\) format\(\"woff2\"\)[^;}]*"
    return re.sub(pattern, lambda found: f"src:{_embedded(VENDOR / 'katex' / found[1])}", text)


def _licenses() -> str:
    paths = [*sorted(VENDOR.rglob("*LICENSE*"))]
    return "\n\n".join(f"{path.relative_to(VENDOR).as_posix()}\n\n{path.read_text()}" for path in paths)
