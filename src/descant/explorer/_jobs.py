"""Jobs of the rooms in processes of their own: so many at once, so long each, and gone when nobody waits for them."""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]
# Seconds that a job may take.
SECONDS = {
    "ask": 120.0,
    "check": 10.0,
    "compile": 60.0,
    "learn": 900.0,
    "elsewhere": 120.0,
    "inside": 300.0,
    "sources": 60.0,
    "claim": 3600.0,
    "picture": 30.0,
}
# Jobs that a person waits for with the hands on the keys; they have a process that no training keeps busy.
QUICK = ("check", "picture")
# Jobs at once, and those that may wait for their turn.
AT_ONCE, QUICK_AT_ONCE, MOST_WAITING = 2, 1, 256
# Processes that wait for work, and jobs after which one is replaced: compiled programs stay in its memory.
IDLE, MOST_JOBS = 1, 40
# A line from a process may hold the weights of a network.
LONGEST_LINE = 64 << 20
HEARTBEAT_S = 5.0
STARTING_S = 60.0
# Seconds that a quick job may go on after its page has gone: another process would take longer to begin.
GRACE_S = 0.5


class Full(Exception):
    """More wait than there is room for."""


class Jobs:
    """All jobs of a server; `close` ends them."""

    def __init__(self) -> None:
        self._long, self._quick = _Lane(AT_ONCE), _Lane(QUICK_AT_ONCE, GRACE_S)

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that there are now."""
        return [worker.process.pid for lane in (self._long, self._quick) for worker in lane.all]

    def warm(self, *, quick: bool) -> None:
        """Have a process ready for somebody who will soon ask for something."""
        (self._quick if quick else self._long).warm()

    async def stream(self, job: str, asked: Any) -> AsyncGenerator[Event | None, None]:
        """The events of a job as they come; None is a sign of life. Whoever closes this stream ends the job."""
        lane = self._quick if job in QUICK else self._long
        if lane.waiting >= MOST_WAITING:
            raise Full(f"{lane.waiting} jobs are waiting already; close some pages, or try again later.")
        events: asyncio.Queue[Event] = asyncio.Queue(64)
        work = asyncio.create_task(lane.work(job, asked, events))
        try:
            while True:
                event = None
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_S):
                        event = await events.get()
                yield event
                if event is not None and event["event"] in ("done", "failed"):
                    return
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def last(self, job: str, asked: Any) -> Event:
        """The event before the last one of a short job, or the sentence why it failed; cancelled, it ends the job."""
        found: Event = {"event": "failed", "sentence": "there was no answer."}
        async with aclosing(self.stream(job, asked)) as events:
            async for event in events:
                if event is not None and event["event"] != "done":
                    found = event
        return found

    async def close(self) -> None:
        """End all processes."""
        for lane in (self._long, self._quick):
            await lane.close()


@dataclass
class _Worker:
    process: asyncio.subprocess.Process
    jobs: int = 0

    @classmethod
    async def start(cls) -> "_Worker":
        debugged = os.environ.get("DESCANT_DEBUG", "") not in ("", "0")
        process = await asyncio.create_subprocess_exec(
            # -P: a file in the present folder that is called like a library is not taken for it.
            *(sys.executable, "-P", "-m", f"{__package__}._worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if debugged else asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            start_new_session=True,  # Ctrl-C is the server's to hear
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(STARTING_S):
                await worker.event()
        except BaseException:
            await worker.end()
            raise
        return worker

    async def ask(self, job: str, asked: Any) -> None:
        assert self.process.stdin is not None
        self.jobs += 1
        self.process.stdin.write(json.dumps({"job": job, "asked": asked}).encode() + b"\n")
        await self.process.stdin.drain()

    async def event(self) -> Event:
        """The next line; `EOFError` if the process has ended."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return json.loads(line)

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class _Lane:
    """Some processes, and those who wait for one; whose page goes has `grace` seconds left to end."""

    def __init__(self, at_once: int, grace: float = 0.0):
        self._turn, self._grace = asyncio.Semaphore(at_once), grace
        self._idle: deque[_Worker] = deque()
        self._warming: asyncio.Task[None] | None = None
        self.all: list[_Worker] = []
        self.waiting = 0

    async def work(self, job: str, asked: Any, events: "asyncio.Queue[Event]") -> None:
        """Wait for a turn, do the job, and put what happens into the queue."""
        self.waiting += 1
        try:
            if self._turn.locked():
                await events.put({"event": "waiting", "words": "waiting for other jobs to end"})
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        worker = None
        try:
            worker = await self._take()
            async with asyncio.timeout(SECONDS[job]):
                await worker.ask(job, asked)
                while (event := await worker.event())["event"] not in ("done", "failed"):
                    await events.put(event)
            if not event.pop("spent", False):
                self._give(worker)
                worker = None
        except TimeoutError:
            event = _failed(f"this took longer than {SECONDS[job]:g} seconds and was stopped; ask for less.")
        except (EOFError, OSError, ValueError):
            event = _failed("the process that computed this has ended, most likely for want of memory; ask for less.")
        except asyncio.CancelledError:
            if worker is not None and await self._ends_soon(worker):
                self._give(worker)
                worker = None
            raise
        finally:
            if worker is not None:
                self._forget(worker)
                await asyncio.shield(worker.end())
            self._turn.release()
        await events.put(event)

    async def _ends_soon(self, worker: _Worker) -> bool:
        """Whether a process that nobody listens to is done within the grace: then it can do another job."""
        with suppress(EOFError, OSError, ValueError, TimeoutError):
            async with asyncio.timeout(self._grace):
                while (event := await worker.event())["event"] not in ("done", "failed"):
                    pass
            return not event.get("spent", False)
        return False

    def warm(self) -> None:
        if not self.all and (self._warming is None or self._warming.done()):
            self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        with suppress(EOFError, OSError, TimeoutError):
            worker = await _Worker.start()
            self.all.append(worker)
            self._give(worker)

    async def _take(self) -> _Worker:
        if self._warming is not None and not self._idle:
            await asyncio.shield(self._warming)
        while self._idle:
            worker = self._idle.pop()
            if worker.process.returncode is None:
                return worker
            self._forget(worker)
        worker = await _Worker.start()
        self.all.append(worker)
        return worker

    def _give(self, worker: _Worker) -> None:
        if len(self._idle) < IDLE and worker.jobs < MOST_JOBS:
            self._idle.append(worker)
            return
        self._forget(worker)
        # It reads the end of its pipe, and goes.
        if worker.process.stdin is not None:
            worker.process.stdin.close()

    def _forget(self, worker: _Worker) -> None:
        if worker in self.all:
            self.all.remove(worker)

    async def close(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        for worker in [*self.all]:
            self._forget(worker)
            await worker.end()


def _failed(sentence: str) -> Event:
    return {"event": "failed", "sentence": sentence}
