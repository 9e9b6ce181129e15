"""Who may ask, and how much at a time: the first thing that every request meets, whatever its path and method.

The page has no passwords to guard, but it computes, and it shows files of its owner. A page of another site, opened in
the same browser, can send requests here; a name of that site can be made to point here (DNS rebinding). So a request
must name this server as its host, and a browser must say that it comes from our own pages. A link that is followed from
elsewhere opens a page that is told so: it waits for a click before it begins what its address says, a training say.
"""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

from ._refusals import refuse, wants_page

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Bytes of the head of a request; a link may hold a program.
HEAD_BYTES = 64 << 10
# Bytes of a body, and seconds that it may take to come.
MOST_BYTES = 1 << 20
SLOWEST_S = 5.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HTTP_PORT = 80
# Observable Plot puts one constant style sheet into each of its pictures; this is its digest.
PLOT_STYLE = "'sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww='"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {PLOT_STYLE}",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """How the server is reached: its port, the address it is bound to, and the token it asks for if it is exposed."""

    port: int
    host: str = "127.0.0.1"
    token: str | None = None

    def names(self, host: str) -> bool:
        """Whether a Host header names this server; browsers leave out the port that HTTP has anyway."""
        name, port = _split(host.lower())
        if name is None or port != str(self.port):
            return False
        if name in LOOPBACK or name == plain_host(self.host):
            return True
        # Bound to all addresses: whichever it has, as numbers, which no other site can be called, or by its own name.
        if self.token is None or self.host not in ("0.0.0.0", "::"):
            return False
        return name == socket.gethostname().lower() or _is_address(name)

    @property
    def cookie(self) -> str:
        """What the cookie with the token is called; browsers don't keep those of two ports apart."""
        return f"descant-{self.port}"


class Guard:
    """Middleware that refuses foreign hosts, other sites and who lacks the token; bounds bodies; adds headers."""

    def __init__(self, app: Any, access: Access):
        self._app, self._access = app, access

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        sending = _with_headers(send)
        answer = partial(refuse, sending, page=wants_page(headers.get("accept", [])))
        # A head that arrives in one piece is never looked at by HTTP's own limit.
        if len(scope["query_string"]) + sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_BYTES:
            await answer(431, f"the head of the request is larger than {HEAD_BYTES} bytes.")
            return
        if (refusal := self._refusal(scope, headers)) is not None:
            await answer(*refusal)
            return
        if self._access.token is not None and not self._known(headers):
            await self._ask_for_token(scope, answer, self._access.token)
            return
        try:
            body = await asyncio.wait_for(_body(headers, receive), SLOWEST_S)
        except TimeoutError:
            await answer(408, f"the request took longer than {SLOWEST_S:g} seconds to arrive.")
        except _TooLarge:
            await answer(413, f"the request is larger than {MOST_BYTES} bytes.")
        except _Gone:
            return
        else:
            await self._app(scope, _again(body, receive), sending)

    def _refusal(self, scope: MutableMapping[str, Any], headers: dict[str, list[str]]) -> tuple[int, str] | None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not self._access.names(hosts[0]):
            return (
                421,
                "the request names another host than this server; open the address that descant explore printed.",
            )
        for origin in headers.get("origin", []):
            if origin.lower() != f"http://{hosts[0].lower()}":
                return 403, "the request comes from a page of another site."
        opened = scope["method"] == "GET" and headers.get("sec-fetch-mode") == ["navigate"]
        opened = opened and headers.get("sec-fetch-dest") == ["document"]
        for site in headers.get("sec-fetch-site", []):
            if site not in ("same-origin", "none") and not opened:
                return 403, "the request comes from a page of another site."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, f"the method {scope['method'][:20]} means nothing here."
        kinds = [kind.partition(";")[0].strip().lower() for kind in headers.get("content-type", [])]
        if scope["method"] == "POST" and kinds != ["application/json"]:
            return 415, "a POST has to be application/json."
        return None

    def _known(self, headers: dict[str, list[str]]) -> bool:
        # By hand: `http.cookies` takes quadratic time over quotes, and gives up on other servers' cookies.
        pairs = (pair.strip().partition("=") for line in headers.get("cookie", []) for pair in line.split(";"))
        found = [value for name, _, value in pairs if name == self._access.cookie]
        return len(found) == 1 and _same(found[0], self._access.token or "")

    async def _ask_for_token(self, scope: MutableMapping[str, Any], answer: Callable[..., Any], token: str) -> None:
        """A link with the token leaves a cookie and leads to the same page without it; all else is refused."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in asked if name == "token"]
        if scope["method"] != "GET" or len(given) != 1 or not _same(given[0], token):
            await answer(401, "this server asks for a token; open the whole address that descant explore printed.")
            return
        left = urlencode([(name, value) for name, value in asked if name != "token"])
        # The path as it came may begin with two slashes, which would lead to another host.
        place = "/" + scope["path"].lstrip("/") + (f"?{left}" if left else "")
        cookie = f"{self._access.cookie}={token}; HttpOnly; SameSite=Lax; Path=/"
        more = ((b"location", place.encode("ascii", "ignore")), (b"set-cookie", cookie.encode()))
        await answer(303, "the token is known.", more=more)


def plain_host(host: str) -> str:
    """A host as people write it, without brackets; an address in its shortest form.

    >>> plain_host("[0:0::1]"), plain_host("LocalHost")
    ('::1', 'localhost')
    """
    name = host.lower().removeprefix("[").removesuffix("]")
    return str(ip_address(name)) if _is_address(name) else name


def _split(host: str) -> tuple[str | None, str]:
    """Name and port of a Host header; an IPv6 address has brackets there, and nothing else has."""
    if host.startswith("["):
        name, bracket, port = host.partition("]")
        sound = bracket and ":" in name and _is_address(name[1:]) and port[:1] in ("", ":")
        return (plain_host(name) if sound else None), port[1:] if port else str(HTTP_PORT)
    name, colon, port = host.partition(":")
    return (name or None), port if colon else str(HTTP_PORT)


class _TooLarge(Exception):
    """A body beyond what is read."""


class _Gone(Exception):
    """Nobody waits for an answer any more."""


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _headers(scope: MutableMapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _body(headers: dict[str, list[str]], receive: Receive) -> bytes:
    for length in headers.get("content-length", []):
        if not length.isascii() or not length.isdigit() or int(length[:20]) > MOST_BYTES:
            raise _TooLarge
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise _TooLarge
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read, to be read again, and then whatever else comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name.lower() for name, _ in message.get("headers", [])}
            more = [(key.encode(), value.encode()) for key, value in HEADERS.items() if key.encode() not in named]
            if b"cache-control" not in named:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sending
