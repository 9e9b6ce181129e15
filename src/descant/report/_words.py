"""Words and numbers as the pages show them: Markdown with $mathematics$, and values with their standard errors."""

import math
import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

PLAIN_RANGE = (1e-4, 1e6)
DIGITS = 6
# Within one paragraph.
_FORMULA = re.compile(r"\$(?:[^$\n]|\n(?!\s*\n))+\$")


def _parser(preset: str) -> MarkdownIt:
    parser = MarkdownIt(preset, {"html": False}).use(dollarmath_plugin, double_inline=True)
    # A script in the page typesets these; without it, the source is readable. Spans, because they stand in paragraphs.
    for token, form in (("math_inline", "inline"), ("math_inline_double", "display"), ("math_block", "display")):
        parser.add_render_rule(token, _as_span(form))
    return parser


def _as_span(form: str):
    def rule(self: object, tokens: Sequence[Token], index: int, options: object, env: object) -> str:
        del self, options, env
        return f'<span class="math {form}">{escape(tokens[index].content.strip())}</span>'

    return rule


_BLOCKS = _parser("commonmark").enable("table")
# In one line of plain words a star is a star: only `code` and mathematics mean something.
_LINE = _parser("zero").enable("backticks")


def paragraphs(text: str) -> Markup:
    """Markdown of one or more paragraphs."""
    # A line that begins with + or - would begin a list, also in the middle of a formula.
    return Markup(_BLOCKS.render(_FORMULA.sub(lambda found: " ".join(found[0].split()), text)))


def line(text: str) -> Markup:
    """One line of words."""
    return Markup(_LINE.renderInline(text))


def number(value: float | int, digits: int = DIGITS) -> Markup:
    """A number to so many digits, with powers of ten where zeros would have to be counted."""
    if isinstance(value, int):
        return Markup(_signed(str(value)))
    if math.isnan(value):
        return Markup("NaN")
    if math.isinf(value):
        return Markup("∞" if value > 0 else "−∞")
    size = abs(value)
    if size == 0 or PLAIN_RANGE[0] <= size < PLAIN_RANGE[1]:
        text = f"{value:.{digits}g}"
        return Markup(_signed(text if "e" not in text else str(int(float(text)))))
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return Markup(_signed(mantissa) + _power(int(exponent)))


def measured(value: float, error: float, exact: bool = False) -> Markup:
    """A value with its standard error, to the digits that it has; or the value, and whether it is exact."""
    if not error or not math.isfinite(value) or not math.isfinite(error):
        note = f"± {number(error, 2)}" if error else "exact" if exact and math.isfinite(value) else ""
        plain = Markup('<span class="number">{}</span>').format(number(value))
        return plain + Markup(' <span class="exact">{}</span>').format(Markup(note)) if note else plain
    largest = max(abs(value), error)
    exponent = math.floor(math.log10(largest))
    if not PLAIN_RANGE[0] <= largest < PLAIN_RANGE[1]:
        unit, power = 10.0**exponent, _power(exponent)
    else:
        unit, power = 1.0, ""
    decimals = max(0, 1 - math.floor(math.log10(error / unit)))
    ours, its = _signed(f"{value / unit:.{decimals}f}"), f"{error / unit:.{decimals}f}"
    text = f"{ours}\u202f±\u202f{its}" if not power else f"({ours}\u202f±\u202f{its}){power}"
    return Markup(f'<span class="number">{text}</span>')


def duration(seconds: float) -> str:
    """Seconds, or minutes, or hours."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _signed(text: str) -> str:
    return text.replace("-", "−")


def _power(exponent: int) -> str:
    return f"\u202f×\u202f10<sup>{_signed(str(exponent))}</sup>"
