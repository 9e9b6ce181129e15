"""What a server or a library says passes through here before it is shown, raised or kept: it may repeat the key."""

import base64
import html
import logging
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote, quote_plus

HIDDEN = "[key]"
# So many characters in a row of the key, in any of its forms, give it away.
PIECE = 6
# Servers that hide a key themselves leave its ends: "sk-ab***wxyz".
MASK = re.compile(r"[*•#]{2,}|\.{3,}|…|[xX]{4,}")
LEAST_END = 2
# More of what is said than this is dropped.
LONGEST = 10_000
LIBRARIES = ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
BETWEEN = string.whitespace + "\\"
DROPPED = dict.fromkeys(map(ord, BETWEEN))
# Not `lower`, which makes some characters two.
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Redactor:
    """Takes a secret out of texts: whole or in pieces, as it is, in an address, in JSON, in HTML, in base64 or in hex.

    >>> Redactor("sk-12345678")("no such key: SK-12345678, or c2stMTIzNDU2Nzg=")
    'no such key: [key], or [key]='
    """

    def __init__(self, secret: str):
        self._secret = secret.translate(LOWER)
        self._pieces = {piece for form in _forms(secret) for piece in _pieces(form.translate(LOWER | DROPPED))}
        self._lengths = sorted({len(piece) for piece in self._pieces})

    def __repr__(self) -> str:
        return "Redactor()"

    def __call__(self, text: str) -> str:
        """The text without the secret, without what a terminal would act on, and no longer than is of use."""
        text = "".join(each if each.isprintable() or each == "\n" else " " for each in text[:LONGEST])
        lowered = text.translate(LOWER)
        hidden = [False] * len(text)
        for start, end in (*self._found(lowered), *self._masked(lowered)):
            hidden[start:end] = [True] * (end - start)
        runs = groupby(zip(text, hidden, strict=True), key=lambda each: each[1])
        return "".join(HIDDEN if hide else "".join(each for each, _ in run) for hide, run in runs)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a library's message pass, without the secret."""
        record.msg, record.args = self(record.getMessage()), ()
        return True

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        # Line breaks, spaces and the backslashes of quoted text may stand anywhere in it.
        places = [place for place, sign in enumerate(text) if sign not in BETWEEN]
        squeezed = "".join(text[place] for place in places)
        for length in self._lengths:
            for start in range(len(squeezed) - length + 1):
                if squeezed[start : start + length] in self._pieces:
                    yield places[start], places[start + length - 1] + 1

    def _masked(self, text: str) -> Iterator[tuple[int, int]]:
        for mask in MASK.finditer(text) if self._secret else ():
            lengths = range(len(self._secret) - 1, LEAST_END - 1, -1)
            head = next((each for each in lengths if text.endswith(self._secret[:each], 0, mask.start())), 0)
            tail = next((each for each in lengths if text.startswith(self._secret[-each:], mask.end())), 0)
            if head or tail:
                yield mask.start() - head, mask.end() + tail


@lru_cache
def redactor(secret: str) -> Redactor:
    """The one redactor of a secret, which from now on also reads what the libraries that send it have to log."""
    made = Redactor(secret)
    for name in LIBRARIES if secret else ():
        logging.getLogger(name).addFilter(made)
    return made


def _forms(secret: str) -> Iterator[str]:
    yield secret
    if len(secret) < PIECE:
        return  # a placeholder, whose other forms would be found in many words
    data = secret.encode()
    yield from (quote(secret, safe=""), quote_plus(secret), html.escape(secret), data.hex())
    # In base64 it reads in three ways, after what stands before it ("user:").
    for before, skip in ((0, 0), (1, 2), (2, 3)):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + data).decode().rstrip("=")[skip:]


def _pieces(form: str) -> Iterator[str]:
    for start in range(max(len(form) > 0, len(form) - PIECE + 1)):
        yield form[start : start + PIECE]
