"""Judge many claims at once, in processes of their own, and say how far they are.

Two claims side by side keep two cores busy where one would mostly compile. Every process kills itself when its parent is gone,
however that came; what was finished is on disk, and what was half done is continued from its kept parts.
"""

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .._sampling import cores
from ._claim import Claim, find
from ._judgement import Judgement, judge, judgement_path, load

PAUSE_S = 0.1


@dataclass(frozen=True)
class Event:
    """A claim was found judged, was begun, is on its way, or has been judged."""

    kind: Literal["found", "begun", "on its way", "judged"]
    id: str
    words: str = ""
    share: float | None = None
    judgement: Judgement | None = None


def judge_all(
    claims: dict[str, Claim], root: Path, *, budget: str = "quick", seed: int = 0, processes: int | None = None
) -> Iterator[Event]:
    """Judge the claims that are not judged yet, the longest first; what happens comes as events."""
    left: list[Claim] = []
    for claim in claims.values():
        path = judgement_path(root, claim, budget, seed)
        if path.exists():
            yield Event("found", claim.id, judgement=load(path))
        else:
            left.append(claim)
    left.sort(key=lambda claim: -claim.seconds)
    while left:
        # A process that died (of lack of memory, say) takes its pool with it: say what it died of, and do the rest.
        judged, begun, broken = set(), set(), False
        for event in _with_a_pool(left, root, budget, seed, min(processes or cores(), len(left))):
            if event is None:
                broken = True
                continue
            (judged if event.kind == "judged" else begun).add(event.id)
            yield event
        died = begun - judged
        for claim in left:
            if claim.id in died:
                words = "its process died; if memory was short, try `descant reproduce` with --processes 1."
                yield Event("judged", claim.id, judgement=_lost(claim, budget, seed, words))
        left = [claim for claim in left if claim.id not in judged | died]
        if left and not broken:
            raise RuntimeError(f"claims were left without a word: {', '.join(claim.id for claim in left)}.")


def _lost(claim: Claim, budget: str, seed: int, words: str) -> Judgement:
    return Judgement(claim.id, budget, seed, "undecided", 0.0, None, words, {})


def _with_a_pool(claims: list[Claim], root: Path, budget: str, seed: int, processes: int) -> Iterator[Event | None]:
    """Events of one pool of processes; None if it broke."""
    context = multiprocessing.get_context("spawn")
    news, stop = context.Queue(), context.Event()
    pool = ProcessPoolExecutor(processes, context, _begin, (news, stop, os.getpid()))
    try:
        waiting: list[Future] = [pool.submit(_judge_here, claim.id, root, budget, seed) for claim in claims]
        while waiting:
            yield from _read(news)
            done = [future for future in waiting if future.done()]
            waiting = [future for future in waiting if not future.done()]
            for future in done:
                try:
                    judgement = future.result()
                except BrokenProcessPool:
                    yield from _read(news)
                    yield None
                    return
                yield Event("judged", judgement.id, judgement=judgement)
            if not done:
                time.sleep(PAUSE_S)
    finally:
        # Also when the caller was interrupted: processes that are in the middle of something are not waited for.
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _read(news: Any) -> Iterator[Event]:
    while True:
        try:
            yield news.get_nowait()
        except queue.Empty:
            return


# What a process of the pool was given when it began.
_NEWS: Any = None


def _begin(news: Any, stop: Any, parent: int) -> None:
    global _NEWS
    _NEWS = news
    # Ctrl-C reaches every process of a terminal; the parent decides, and says so through `stop`.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent and not stop.wait(PAUSE_S):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _judge_here(id: str, root: Path, budget: str, seed: int) -> Judgement:
    _NEWS.put(Event("begun", id))

    def tell(words: str, share: float | None) -> None:
        _NEWS.put(Event("on its way", id, words, share))

    return judge(find([id])[id], root, budget=budget, seed=seed, tell=tell)
