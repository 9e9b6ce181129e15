"""Bind, tell the address, open the browser, serve until Ctrl-C."""

import asyncio
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ._app import make_app
from ._guard import HEAD_BYTES, LOOPBACK, Access, plain_host

# Seconds that the head of a request may take, and that an idle connection is kept.
HEAD_S, IDLE_S = 5.0, 20
# Connections at once.
MOST = 1500
BACKLOG = 1024
PORT = 8765


class Patient(H11Protocol):
    """HTTP with a limit on how long the head of a request may take; uvicorn waits for ever."""

    def __init__(self, *arguments: Any, **named: Any):
        H11Protocol.__init__(self, *arguments, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._since: Any = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; a request has to follow."""
        H11Protocol.connection_made(self, transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """A piece of a request, perhaps the first of another one."""
        if self.cycle is not None and self.cycle.response_complete:
            self._watch()
        H11Protocol.data_received(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Gone."""
        if self._timer is not None:
            self._timer.cancel()
        H11Protocol.connection_lost(self, exc)

    def _watch(self) -> None:
        """Wait for a head since now; of one that comes in pieces the first piece counts."""
        if self._timer is not None:
            if self._since is self.cycle:
                return
            # That was for the head of a request that has been answered since.
            self._timer.cancel()
        self._since = self.cycle
        self._timer = self.loop.call_later(HEAD_S, self._late, self.cycle)

    def _late(self, before: Any) -> None:
        self._timer = None
        if self.cycle is before and not self.transport.is_closing():
            self.transport.close()


def serve(
    port: int = PORT,
    *,
    host: str = LOOPBACK[0],
    report: Path = Path("report"),
    browser: bool = True,
    tell: Callable[[str], Any] = print,
) -> None:
    """Serve the explorer until it is interrupted.

    **Arguments:** `port` 0 is any that is free. `host` is the address that is bound: with another one than this
    machine's own the server asks for a token, which is part of the address that is told. `report` is the folder of
    `descant reproduce`. `browser` opens the page. `tell` is handed the address.
    """
    bound = _bind(host, port)
    port = bound.getsockname()[1]
    token = None if plain_host(host) in LOOPBACK else secrets.token_urlsafe(24)
    access = Access(port, plain_host(host), token)
    config = uvicorn.Config(
        make_app(access, report),
        http=Patient,
        ws="none",
        lifespan="on",
        log_level="critical",  # what fails is told on the page, and by the application
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=HEAD_BYTES,
        limit_concurrency=MOST,
        backlog=BACKLOG,
    )
    _allow_connections(2 * MOST)
    plain = plain_host(host)
    name = socket.gethostname() if plain in ("0.0.0.0", "::") else f"[{plain}]" if ":" in plain else plain
    address = f"http://{name}:{port}/" + (f"?token={token}" if token else "")
    tell(f"The explorer is at {address} (Ctrl-C ends it)")
    if token:
        tell("Others on the network can reach it, and whoever has this whole address can use it.")
    # A token on the browser's command line could be read by all users of this machine.
    if browser and not token:
        # It may wait for the browser to end.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        tell("The explorer has ended.")
    finally:
        bound.close()


def _bind(host: str, port: int) -> socket.socket:
    """A socket that listens, so that who connects as soon as the address is told is heard."""
    if not 0 <= port < 65536:
        raise ValueError(f"port is {port}; expected one from 0 to 65535, where 0 is any that is free.")
    address = plain_host(host)
    # A socket takes an empty address for all of this machine's.
    if not 0 < len(address) < 254:
        raise ValueError(f"host is {host[:40]!r}; expected an address of this machine, 0.0.0.0 for all of them.")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((address, port))
    except (OSError, UnicodeError) as error:
        bound.close()
        why = error.strerror if isinstance(error, OSError) else "no such host"
        raise ValueError(
            f"host is {host!r} and port {port}, where the explorer can't listen: {why}; choose another --port, or 0 for"
            " any free one."
        ) from None
    bound.listen(BACKLOG)
    bound.set_inheritable(False)
    return bound


def _allow_connections(count: int) -> None:
    """As many open files as connections, where the system allows it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
