"""Formulas of docstrings, which are written for a terminal, as LaTeX for the pages.

Only what can't be anything else: letters with an index or an exponent, Greek letters by name, sums, inner products and
norms. Words and code stay as they are.
"""

import re

GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|chi|psi|omega|"
    "Gamma|Delta|Theta|Lambda|Xi|Sigma|Phi|Psi|Omega"
)
# An index or an exponent: one word or number, or anything in braces.
BELOW = r"_(?:\w+|\{[^}]+\})"
ABOVE = r"\^(?:-?\d+|-?[a-z]{2,}|T|\w|\{[^}]+\}|\([^()]+\))"
LETTER = rf"(?:{GREEK}|[A-Za-z]'*)"
# No part of a word, of a path, of code, or of a name such as GD-beta.
BEFORE, AFTER = r"(?<![\w`.$\\/-])", r"(?![\w`$(=]|-\w|\.\w)"
SYMBOL = re.compile(
    rf"{BEFORE}(?:(?P<hat>[a-z]_hat(?:_\w)?)|(?P<sum>sum{BELOW})|(?P<letter>{LETTER})(?P<below>{BELOW})?(?P<above>{ABOVE})?)"
    rf"{AFTER}"
)
INNER = re.compile(r"`?<([^<>`\s,]+, [^<>`\n]+)>`?((?:\^2)?)")
NORM = re.compile(r"(?<![\w|])\|([^|\s`$]+(?: [-+] [^|\s`$]+)?)\|(\^\d)?(?:_([A-Z]\w*))?(?!\|)")
# Exponents of words and brackets, and indices of words.
RAISED = re.compile(
    r"(?<=[\w)\]|])(?:\^(-?\w+)\b|\^\(([^()]+)\)|([_^])\{([^}]+)\})|(?<=[a-z]{3})(?<!prod)_([ijklx]{1,2})(?![\w/]|\.\w)"
)
# Assignments, and the one hyphen that belongs to a name with an index.
ARROW, NAMED = re.compile(r"(?<=[\w)] )<-(?= [\w(])"), re.compile(r"\by_q(?=-LSA\b)")
# A letter that is no word by itself.
ALONE = r"([B-HJ-Zb-z])"
CODE = re.compile(r"(`[^`]+`|\[[^\]]*\]\([^)]*\))")


def latex(text: str) -> str:
    """A formula of single letters as LaTeX: `w_hat_l`, `sigma^2`, `R^{d+1}`."""
    text = re.sub(r"\b([a-z])_hat\b", r"\\hat{\1}", text)
    text = re.sub(r"\b([a-z])_hat_(\w)\b", r"\\hat{\1}_{\2}", text)
    text = re.sub(rf"(?<![\\\w])({GREEK})(?![A-Za-z])", r"\\\1 ", text)
    text = re.sub(r"\^(-?)([a-z]{2,})\b", r"^{\1\\text{\2}}", text)
    text = re.sub(r"\bsum_(\w+|\{[^}]+\})", r"\\sum_{\1}", text)
    text = re.sub(r"_([ijklnxy]{2,3})\b", r"_{\1}", text)
    text = re.sub(r"_([A-Za-z]{2,})\b", r"_{\\text{\1}}", text)
    text = re.sub(r"(?<![\\A-Za-z{])([A-Za-z]{3,})", r"\\text{\1}", text)
    text = re.sub(r"\^T\b", r"^\\top", text)
    text = re.sub(r"\bR\^", r"\\mathbb{R}^", text)
    text = re.sub(r"\^\(([^()]+)\)", r"^{\1}", text)
    return re.sub(r"\^(-\d+)", r"^{\1}", text).strip()


def _symbol(found: re.Match[str]) -> str:
    plain = found["letter"] and not (found["below"] or found["above"])
    if plain and len(found["letter"]) == 1:
        return found[0]  # may be a word: a, I
    return f"${latex(found[0])}$"


def typeset(text: str) -> str:
    """A text whose formulas are LaTeX between dollars; what stands between backticks is code, but for inner products.

    Lines that are indented by four are code, too.
    """
    kept = re.split(r"((?:^ {4}.*\n?)+)", text, flags=re.MULTILINE)
    return "".join(each if index % 2 else _typeset(each) for index, each in enumerate(kept))


def _typeset(text: str) -> str:
    text = INNER.sub(lambda found: f"$\\langle {latex(found[1])}\\rangle{found[2]}$", text)
    parts = CODE.split(text)
    for index in range(0, len(parts), 2):
        pieces = re.split(r"(\$[^$]+\$)", parts[index])
        for at in range(0, len(pieces), 2):
            piece = NAMED.sub("$y_q$", ARROW.sub("←", pieces[at]))
            piece = "".join(map(_norms, piece.splitlines(keepends=True)))
            halves = re.split(r"(\$[^$]+\$)", piece)
            piece = "".join(half if odd % 2 else SYMBOL.sub(_symbol, half) for odd, half in enumerate(halves))
            pieces[at] = piece
        parts[index] = "".join(pieces)
    return _joined("".join(parts))


def _joined(text: str) -> str:
    """Formulas that stand side by side, or with a single letter or a sign between or beside them, as one."""
    last = ""
    while last != text:
        last = text
        text = re.sub(r"\$([^$\n]+)\$( | [-=+/~] )\$([^$\n]+)\$", r"$\1\2\3$", text)
        text = re.sub(rf"\$([^$\n]+)\$( | [-=+/] ){ALONE}{AFTER}", r"$\1\2\3$", text)
        text = re.sub(rf"{BEFORE}{ALONE}( | [-=+/~] )\$([^$\n]+)\$", r"$\1\2\3$", text)
    pieces = re.split(r"(\$[^$]+\$|`[^`]+`)", text)
    return "".join(each if odd % 2 else RAISED.sub(_raised, each) for odd, each in enumerate(pieces))


def _raised(found: re.Match[str]) -> str:
    power, bracketed, sign, braced, index = found.groups()
    tag = "sub" if index or sign == "_" else "sup"
    words = (power or bracketed or braced or index).replace("-", "−")
    return f"<{tag}>{'⊤' if words == 'T' else words}</{tag}>"


def _norms(line: str) -> str:
    # A row of a table has bars of its own.
    return line if re.fullmatch(r"\s*\|.*\|\s*", line) else NORM.sub(_norm, line)


def _norm(found: re.Match[str]) -> str:
    below = f"_{{{found[3]}}}" if found[3] else ""
    return f"$|{latex(found[1])}|{found[2] or ''}{below}$"
