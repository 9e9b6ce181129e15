"""Events as they come, until there are no more or nobody listens: then whoever makes them is told at once."""

import asyncio
import json
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

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
        """Send until one of both ends has had enough."""
        tasks = {asyncio.create_task(self._send(send)), asyncio.create_task(_gone(receive))}
        # Cancelled only when the server ends, which is no error.
        with suppress(asyncio.CancelledError):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._events) as events:
            async for event in events:
                content = ALIVE if event is None else f"data: {json.dumps(event, allow_nan=False)}\n\n".encode()
                await send({"type": "http.response.body", "body": content, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    message: MutableMapping[str, Any] = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()
