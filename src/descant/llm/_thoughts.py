"""What a model thought before it answered, in the forms in which open models and their servers mark it."""

import re

# What begins a thought, and what ends it; the tags of XML have a name, which may have a prefix.
_NAMES = r"(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_FORMS = (
    ("◁think▷", "◁/think▷"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|channel\|>\s?analysis", r"<\|channel\|>\s?final"),
    # A sentence that begins so may be an answer: only its end tells.
    ("(?!)", r"\.\.\.done thinking\."),
)
_MARK = re.compile(
    rf"<(?P<close>/?)(?P<name>{_NAMES})>|"
    + "|".join(f"(?P<open{place}>{begin})|(?P<shut{place}>{end})" for place, (begin, end) in enumerate(_FORMS)),
    re.IGNORECASE,
)


def without_thoughts(text: str) -> str | None:
    """The text without what the model thought before it; None if it was cut off while it thought.

    Servers that take the mark of a beginning into the prompt leave only that of the end: what stands before it is
    thought.

    >>> without_thoughts("<think>2 or 3?</think> 4"), without_thoughts("2?</think> 4"), without_thoughts("<think>2")
    (' 4', ' 4', None)
    """
    kept, start, inside = "", 0, ""
    for mark in _MARK.finditer(text):
        kind, begins = _kind(mark)
        if begins and not inside:
            kept, inside = kept + text[start : mark.start()], kind
        elif not begins and inside in ("", kind):
            kept, start, inside = (kept if inside else ""), mark.end(), ""
    return None if inside else kept + text[start:]


def _kind(mark: re.Match[str]) -> tuple[str, bool]:
    """Which form a mark has, and whether it begins a thought."""
    if mark["name"]:
        return mark["name"].lower(), not mark["close"]
    group = str(mark.lastgroup)
    return group[4:], group.startswith("open")
