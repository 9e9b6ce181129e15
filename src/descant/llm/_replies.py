"""The score in a text. Models echo the question, think aloud and name the scale: none of that is their answer.

What a model thought is dropped, then what repeats the prompt, then the names of the scale, what is merely counted, and
what is turned down.
Of the numbers that are left, the last one after the word that was asked for counts; else one that the text begins with;
else the last that is not called a guess. Where others are left that differ and might be meant, the answer is flagged
as ambiguous. A score out of another top than the scale's is no score on it.
"""

import re

from ._pairs import HIGH, LOW
from ._thoughts import without_thoughts

NUMBER = r"[-+−]?(?:\d+(?:[.,٫]\d+)?|[.٫]\d+)"
# A sign of a word; Chinese, Japanese and Korean put no space between a word and a number.
_SIGN = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_ENDS = rf"(?!{_SIGN}|[.,٫]\d|%)"
# Not a part of a word, of a version or of a longer number.
_NUMBER = re.compile(rf"(?<!{_SIGN})(?<![.,٫])(?<!\d[:/]){NUMBER}{_ENDS}")
_TOKENS = re.compile(r"<\|[^|>]{1,40}\|>")
_MARKS = re.compile(r"[*_`$~]+|\\boxed|\\text|\\\(|\\\)")
# Signs as wide as a Chinese one.
_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
# Words that come before a score, beside the one that was asked for.
_ASKED = ("score", "rating", "similarity", "answer", "value")
# One loop over alternatives that exclude each other: a reply may be megabytes of spaces.
_BETWEEN = r"""(?:of|is|would be|should be|[:=()\[{>→–\s"']|->|-(?![\d>.]))*"""
_GUESSED = re.compile(
    rf"\b(?:guess(?:ed)?(?:\s(?:score|rating|similarity|value))?|estimated?|prediction)\b(?:{_BETWEEN}|\s+was\s+)"
    rf"({NUMBER}){_ENDS}",
    re.I,
)
# What is said about a score, with a number of its own.
_ABOUT = re.compile(
    rf"(?:\b(?:confidence|certainty|probability|difference|margin)\b(?:\sof\b)?\W{{0,6}}|[±]\s?)({NUMBER})", re.I
)
# A number that is turned down: "not a 5", "rather than 4.2".
_NOT = re.compile(
    rf"(?:\bnot|n't|\brather\sthan|\binstead\sof|\bshort\sof)\s(?:quite\s)?(?:an?\s)?(?:full\s|perfect\s)?"
    rf"{NUMBER}{_ENDS}",
    re.I,
)
_MEANS = (
    r"(?:(?:would|could|will)\s)?(?:mean(?:s|ing)?|indicat(?:es?|ing)|represent(?:s|ing)?|signif(?:y|ies)|den(?:ote|otes)|"
    r"impl(?:y|ies)|stands?\sfor|corresponds?\sto|(?:is|be)\s(?:for|reserved|only|used))\b"
)
# "= 5 + 0.3 = 5.3": what stands between the first sign and the last is on its way to a number.
_SUM = re.compile(r"=[\d. \t+*×·/()−-]{3,200}(?=[=≈][ \t]?[-−]?[\d.])")
# Counted things, and places in a list.
_COUNTED = re.compile(
    rf"\b(?:{NUMBER}\s+(?:out\s+)?of\s+(?:the\s+)?)?{NUMBER}\s+"
    r"(?:sentences?|pairs?|examples?|words?|statements?|texts?|sources?|people|reasons?|steps?)\b"
    r"|\b(?:sentences?|texts?|pairs?|examples?|statements?|steps?)\s*\d+\b(?![.,٫]\d)|#\d+\b(?![.,٫]\d)"
    rf"|(?<!\d){NUMBER}\s*(?:[个個]|つの|개의)|(?:句子?|文|문장)\s*\d+"
    r"|^[ \t]*1[.)]\s+(?=\d)",
    re.IGNORECASE | re.MULTILINE,
)
_PLACES = re.compile(r"(?:^[ \t#]*|\()(\d+)[.)]\s+(?=[A-Za-z])", re.MULTILINE)
# A line with nothing but a number in it, and perhaps its place in a list.
_ALONE = re.compile(rf"^[ \t]*(?:\d+[.)][ \t]+)?({NUMBER})[ \t]*$", re.MULTILINE)
_RANGE = re.compile(rf"(?<![\d.,])({NUMBER})\s*(?:-|–|—|~|to|bis|or)\s*({NUMBER}){_ENDS}")
_OUT_OF = r"\s*(?:/|out\s+of|of|von|de|sur|su|из)\s*"


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
    answer = without_thoughts(text)
    if answer is None:
        return None, "cut off"
    text = answer
    if stem.strip() and stem.strip() in text:
        text = text.rsplit(stem.strip(), 1)[1]
    text = _MARKS.sub("", _SUM.sub("", _TOKENS.sub(" ", text.translate(_WIDE))))
    text = _COUNTED.sub(" ", _without_scale(_without_places(text), low, high))
    text = _without_others(text, low, high)
    found, rivals = _chosen(text, asked, low, high)
    if found is None:
        return None, "not a number"
    value, rest = _value(found.group(1)), text[found.end(1) :]
    if not low <= value <= high or re.match(rf"{_OUT_OF}\d", rest, re.IGNORECASE):
        return None, "out of range"
    for first, last in _RANGE.findall(text):
        ends = {_value(first), abs(_value(last))}
        rivals |= ends if value in ends else set()
    return value, "ambiguous" if rivals - {value} else "ok"


def _chosen(text: str, asked: str, low: float, high: float) -> tuple[re.Match[str] | None, set[float]]:
    """The number that is meant, and the values of those that might be."""
    words = "|".join(dict.fromkeys((*_names(asked), *map(_word, _ASKED))))
    # "The score for the last pair is", too.
    of = r"(?:\s{1,3}(?:for|of|between)\s[^.!?\n\d]{1,80}?\b(?:is|be)\b)?"
    # A number that follows an asked-for word in its own line, whatever joins the two.
    after = list(re.finditer(rf"(?:{words}){of}{_BETWEEN}({NUMBER}){_ENDS}", text, re.IGNORECASE))
    # Begun with, and the rest explains it; but "4.1 is the guess" goes on about it.
    begins = re.match(rf"[\s\"'(\[{{#>]*({NUMBER}){_ENDS}(?!\s+(?:is|was|seems|would|might)\b|\s*(?:→|[-=]>))", text)
    numbers = list(re.finditer(rf"({_NUMBER.pattern})", text))
    guesses = {each.start(1) for each in _GUESSED.finditer(text)}
    if after:
        after = [each for each in after if each.start(1) not in guesses] or after
        # Begun with another number, or a score named elsewhere, with its decimal: each may be meant.
        aside = guesses | {each.start(1) for each in _ABOUT.finditer(text)}
        others = [each for each in numbers if each.start() not in aside and not each.group().isdigit()]
        rivals = {_value(each.group(1)) for each in (*after, *others, *([begins] if begins else []))}
        return after[-1], {each for each in rivals if low <= each <= high}
    if begins:
        # Each on a line of its own: of several pairs, perhaps.
        return begins, {_value(each.group(1)) for each in _ALONE.finditer(text)}
    meant = [each for each in numbers if each.start() not in guesses] or numbers
    values = {_value(each.group()) for each in numbers}
    return (meant[-1] if meant else None), {each for each in values if low <= each <= high}


def _without_places(text: str) -> str:
    """Without the numbers of a list; of "4. They differ", which is no list, the number stays."""
    places = {found.group(1) for found in _PLACES.finditer(text)}
    return _PLACES.sub(" ", text) if {"1", "2"} <= places else text


def _without_scale(text: str, low: float, high: float) -> str:
    """Without "from 0 to 5", "(1-5)", "/5", "out of 5": they name a scale, not a score."""
    ends = r"0(?:\.0+)?|1(?:\.0+)?|" + "|".join(rf"{end:g}(?:\.0+)?" for end in (low, high))
    top = rf"{high:g}(?:[.,]0+)?"
    flags = re.IGNORECASE
    text = re.sub(rf"\b(?:{ends})\s*(?:-|–|—|to|and|through|\.\.+|…)\s*(?:{top})(?![\w]|[.,]\d)", " ", text)
    text = re.sub(rf"(?<=\d){_OUT_OF}{top}(?!{_SIGN}|[.,]\d)", " ", text, flags=flags)
    text = re.sub(rf"\bout\s+of\s+(?:a\s+possible\s+)?{top}(?![\w]|[.,]\d)", " ", text, flags=flags)
    text = re.sub(
        rf"[满滿]分[为為是]?\s*{top}\s*分?|{top}\s*[点點分점]\s*(?:[满滿満]分?[点點]?|만점)\s*(?:中|에)?", " ", text
    )
    # An interval. "[0,5]" alone may be half a point.
    text = re.sub(rf"[\[(]\s?(?:{ends})[,;]\s?{top}\s?[\])](?=[^\d\n]{{0,40}}\d)", " ", text)
    # "0 = unrelated, 5 = the same": a key to the scale.
    return re.sub(rf"\b(?:{ends})\s*(?:=|means|being)\s*(?=[a-z])", " ", text, flags=flags)


def _without_others(text: str, low: float, high: float) -> str:
    """Without the ends of the scale where it is told what they mean ("a score of 5 would mean the same"), and without
    what is turned down; unless no number is left.
    """
    ends = r"(?:0(?:\.0+)?|1(?:\.0+)?|" + "|".join(rf"{end:g}(?:\.0+)?" for end in (low, high)) + ")"
    a_score = r"(?:an?\s|the\s)?(?:\w{1,12}\s)?(?:score|rating|similarity|value)\sof\s"
    left = re.sub(rf"\b{a_score}{ends}\s{_MEANS}", " ", text, flags=re.IGNORECASE)
    answers = r"(?!my\b|right|appropriate|correct|best|fair|the\s(?:score|rating|answer|best|right|correct))"
    told = (
        rf"\b(?:where|with|and|since|while|whereas)\s(?:{a_score})?{ends}\s(?:(?:is|are)\s{answers}(?=[a-z])|{_MEANS})"
    )
    left = _NOT.sub(" ", re.sub(told, " ", left, flags=re.IGNORECASE))
    return left if _NUMBER.search(left) else text


def _names(asked: str) -> list[str]:
    """What a wording puts before a score: the last word; of "their similarity is", the noun; of "->", the sign."""
    words = [word for word in re.findall(r"[A-Za-zÀ-ɏ]+", asked) if word.lower() not in ("is", "are", "be", "to")]
    if words:
        return [_word(words[-1])]
    return [re.escape(asked.strip())] if asked.strip() else []


def _word(word: str) -> str:
    """A word by itself; a letter only with its colon, since "a" may be an article."""
    return rf"(?<!\w){re.escape(word)}" + (r"(?=\s?[:=≈])" if len(word) == 1 else "")


def _value(text: str) -> float:
    return float(text.replace(",", ".").replace("٫", ".").replace("−", "-"))
