"""Words for places where nothing can be typeset."""

import re
import unicodedata

_SIGNS = {
    "infty": "∞",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "times": "×",
    "cdot": "·",
    "to": "→",
    "approx": "≈",
    "sim": "∼",
    "pm": "±",
    "top": "ᵀ",
    "ell": "ℓ",
    "log": "log ",
    "max": "max",
    "min": "min",
}
# Signs between two things, which have space around them.
_BETWEEN = {"le", "leq", "ge", "geq", "times", "to", "approx", "sim", "pm"}
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def bare(text: str) -> str:
    r"""Words for places where nothing can be typeset, such as the axes of a figure: $\sigma^2$ is σ².

    >>> bare(r"risk against $\sigma^2$")
    'risk against σ²'
    >>> bare(r"$A^\top B$, $w^{*\top}$")
    'AᵀB, w*ᵀ'
    >>> bare(r"$m \ge n$, $c^3\,f(\eta - \lambda)$")
    'm ≥ n, c³ f(η - λ)'
    """
    return re.sub(r"\$([^$]*)\$", lambda found: _unicode(found[1]), text).replace("`", "").replace("$", "")


def _unicode(mathematics: str) -> str:
    def command(found: re.Match[str]) -> str:
        name, space = found[1], found[2]
        # A space that only ends the command's name is none.
        return sign(name) + (space if name in _BETWEEN or not (found[3].isalnum() or found[3] == "\\") else "")

    def sign(name: str) -> str:
        greek = f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {name.replace('lambda', 'lamda').upper()}"
        try:
            return unicodedata.lookup(greek)
        except KeyError:
            return _SIGNS.get(name, "")

    # The sign of a transpose is raised already.
    mathematics = re.sub(r"\^(\{?[^{}]?)\\top", r"\1\\top", mathematics)
    text = re.sub(r"\\([A-Za-z]+)( ?)(?=(.?))", command, mathematics.replace(r"\,", " "))
    text = re.sub(r"\^\{?(-?\d+)\}?", lambda found: found[1].translate(_SUPERSCRIPTS), text)
    return re.sub(r"[{}\\]", "", text)
