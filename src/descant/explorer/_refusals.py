"""What a refused request hears: a sentence, as JSON for scripts and as a page for a person with a browser."""

import base64
import hashlib
import html
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Who is refused may load none of our files, so the page has its style with it.
STYLE = (
    "body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1.4rem}"
    "h1{font-size:1.5rem}p{overflow-wrap:anywhere}"
)
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title} · Descant</title><style>{style}</style></head>
<body><main><h1>{title}</h1><p>{sentence}</p></main></body></html>
"""


def refusal(status: int, sentence: str, *, page: bool) -> tuple[bytes, dict[str, str]]:
    """The content and the headers of an answer that says why there is no other."""
    if not page:
        return json.dumps({"sentence": sentence}).encode(), {"content-type": "application/json"}
    title = HTTPStatus(status).phrase
    words = html.escape(sentence[:1].upper() + sentence[1:])
    content = PAGE.format(title=title, style=STYLE, sentence=words).encode()
    return content, {"content-type": "text/html; charset=utf-8", "content-security-policy": POLICY}


def wants_page(accepted: list[str]) -> bool:
    """Whether whoever asks is a browser that opens a page; scripts of ours never ask for HTML."""
    return any("text/html" in kinds for kinds in accepted)


async def refuse(send: Send, status: int, sentence: str, *, page: bool, more: tuple[tuple[bytes, bytes], ...] = ()):
    """Answer at once; whatever else was to come of this request is not read."""
    content, named = refusal(status, sentence, page=page)
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
    headers += [(b"content-length", str(len(content)).encode()), (b"connection", b"close"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
