"""Events as they come, until there are no more or nobody listens: then whoever makes them is told at once."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ._until_gone import Gone, until_gone

ALIVE = b": alive\n\n"


class EventStream(Response):
    """Server-sent events from a generator, which is closed when the listener goes; None is a sign of life.

    Starlette's own streaming response leaves that to the garbage collector where it was busy sending.
    """

    def __init__(self, events: AsyncGenerator[dict[str, Any] | None, None]):
        Response.__init__(self, media_type="text/event-stream")
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until one of both ends has had enough; cancelled only when the server ends, which is no error."""
        with suppress(Gone, asyncio.CancelledError):
            await until_gone(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._events) as events:
            async for event in events:
                content = ALIVE if event is None else f"data: {json.dumps(event, allow_nan=False)}\n\n".encode()
                await send({"type": "http.response.body", "body": content, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
