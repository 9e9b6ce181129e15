"""The score in a text. Models echo the question, think aloud and name the scale: none of that is their answer.

What a model thought is dropped, then what repeats the prompt, then the names of the scale and what is merely counted.
Of the numbers that are left, the last one after the word that was asked for counts; else one that the text begins with;
else the last. Where others are left that differ and might be meant, the answer is flagged as ambiguous.
"""

import re

from ._pairs import HIGH, LOW

NUMBER = r"[-+−]?\d+(?:[.,]\d+)?"
# Not a part of a word, of a version or of a longer number.
_NUMBER = re.compile(rf"(?<![\w.,])(?<!\d[:/]){NUMBER}(?![\w]|[.,]\d|%)")
# Reasoning, in the forms in which open models mark it; what is not closed was cut off.
_THOUGHTS = (
    re.compile(r"<(think|thinking|thought|reasoning|reflection|scratchpad)>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"◁think▷.*?◁/think▷", re.DOTALL),
    re.compile(r"\[THINK\].*?\[/THINK\]", re.DOTALL),
    re.compile(r"<\|channel\|>\s*analysis.*?(?=<\|channel\|>\s*final|$)", re.DOTALL),
)
# Servers that take the opening mark into the prompt leave only the closing one.
_CLOSED = re.compile(r"^.*(?:</think(?:ing)?>|◁/think▷|\[/THINK\])", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"<(?:think|thinking|thought|reasoning)>|◁think▷|\[THINK\]", re.IGNORECASE)
_TOKENS = re.compile(r"<\|[^|>]{1,40}\|>")
_MARKS = re.compile(r"[*_`$~]+|\\boxed|\\text|\\\(|\\\)")
# Words that come before a score, beside the one that was asked for.
_ASKED = ("score", "rating", "similarity", "answer", "value")
_BETWEEN = r"""["'\s]*(?:of|is|would be|should be|:|=|->|→|\(|\{|\[|-|–|\s|["'])*"""
# Counted things, and places in a list.
_COUNTED = re.compile(
    rf"\b{NUMBER}\s+(?:sentences?|pairs?|examples?|words?|statements?|texts?|sources?|people|reasons?|steps?)\b"
    r"|\b(?:sentences?|texts?|pairs?|examples?|statements?|steps?|#)\s*\d+\b"
    r"|^\s*\d+[.)]\s+(?=[A-Za-z])",
    re.IGNORECASE | re.MULTILINE,
)


def parse_score(
    text: str, asked: str = "score", *, low: float = LOW, high: float = HIGH, stem: str = ""
) -> tuple[float | None, str]:
    """The score that a text gives, and a status. `asked` is the word before the score, `stem` the end of the prompt.

    >>> parse_score("The score is 3.5 out of 5.")
    (3.5, 'ok')
    >>> parse_score("guess: 2.1 score: 3.8")
    (3.8, 'ok')
    >>> parse_score("Maybe 2, maybe 3.")
    (3.0, 'ambiguous')
    >>> parse_score("I would say seven.")
    (None, 'not a number')
    """
    text = without_thoughts(text)
    if _UNCLOSED.search(text):
        return None, "cut off"
    if stem.strip() and stem.strip() in text:
        text = text.rsplit(stem.strip(), 1)[1]
    text = _COUNTED.sub(" ", _without_scale(_MARKS.sub("", _TOKENS.sub(" ", text)), low, high))
    numbers = [_value(found.group()) for found in _NUMBER.finditer(text)]
    if not numbers:
        return None, "not a number"
    words = "|".join(re.escape(word) for word in dict.fromkeys((*_last_words(asked), *_ASKED)))
    # A number that follows an asked-for word in its own line, whatever joins the two.
    after = re.findall(rf"(?<!\w)(?:{words}){_BETWEEN}({NUMBER})(?![\w]|[.,]\d|%)", text, re.IGNORECASE)
    begins = re.match(rf"[\s\"'(\[{{#>]*({NUMBER})(?![\w]|[.,]\d|%)", text)
    if after:
        value, rivals = _value(after[-1]), {_value(each) for each in after}
        # Begun with another number, and named one later: either may be meant.
        rivals |= {_value(begins.group(1))} if begins else set()
    elif begins:
        # The rest explains it.
        value, rivals = _value(begins.group(1)), set()
    else:
        value, rivals = numbers[-1], {each for each in numbers if low <= each <= high}
    if not low <= value <= high:
        return None, "out of range"
    return value, "ambiguous" if rivals - {value} else "ok"


def without_thoughts(text: str) -> str:
    """The text without what the model thought before it.

    >>> without_thoughts("<think>2 or 3?</think> 4")
    ' 4'
    """
    for thought in _THOUGHTS:
        text = thought.sub("", text)
    return _CLOSED.sub("", text)


def _without_scale(text: str, low: float, high: float) -> str:
    """Without "from 0 to 5", "(1-5)", "/5", "out of 5": they name a scale, not a score."""
    ends = r"0(?:\.0+)?|1(?:\.0+)?|" + "|".join(rf"{end:g}(?:\.0+)?" for end in (low, high))
    top = rf"{high:g}(?:\.0+)?"
    text = re.sub(rf"\b(?:{ends})\s*(?:-|–|—|to|and|through|\.\.+|…)\s*(?:{top})(?![\w]|[.,]\d)", " ", text)
    text = re.sub(rf"(?<=\d)\s*(?:/|out\s+of|of)\s*(?:{top})(?![\w]|[.,]\d)", " ", text, flags=re.IGNORECASE)
    text = re.sub(rf"\bout\s+of\s+(?:a\s+possible\s+)?(?:{top})(?![\w]|[.,]\d)", " ", text, flags=re.IGNORECASE)
    # "0 = unrelated, 5 = the same": a key to the scale.
    return re.sub(rf"\b(?:{ends})\s*(?:=|means|being)\s*(?=[a-z])", " ", text, flags=re.IGNORECASE)


def _last_words(asked: str) -> list[str]:
    """The word that a wording puts before a score; of "their similarity is", the noun."""
    words = [word for word in re.findall(r"[A-Za-zÀ-ɏ]+", asked) if word.lower() not in ("is", "are", "be", "to")]
    return words[-1:]


def _value(text: str) -> float:
    return float(text.replace(",", ".").replace("−", "-"))
