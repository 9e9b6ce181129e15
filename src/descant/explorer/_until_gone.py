"""Work for somebody who waits: it is cancelled as soon as nobody does any more."""

import asyncio
from collections.abc import Coroutine, MutableMapping
from typing import Any, TypeVar

from starlette.types import Receive

T = TypeVar("T")


class Gone(Exception):
    """Nobody waits for the answer."""


async def until_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns; if the other end goes first, the work is cancelled, awaited, and `Gone` raised."""
    working, watching = asyncio.create_task(work), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Gone
        return working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    message: MutableMapping[str, Any] = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()
