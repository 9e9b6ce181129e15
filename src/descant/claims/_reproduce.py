"""Judge many claims at once, in processes of their own, and say how far they are.

Two claims side by side keep two cores busy where one would mostly compile. Every process kills itself when its parent
is gone, however that came; what was finished is on disk, and what was half done is continued from its kept parts.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .. import _kept
from .._cores import cores
from ._claim import Claim, find
from ._judgement import Judgement, judge, judgement_path, load
from ._lab import PARTS

PAUSE_S = 0.1
Afterwards = Callable[[Path, Judgement], Any]


@dataclass(frozen=True)
class Event:
    """A claim was found judged, was begun, is on its way, or has been judged."""

    kind: Literal["found", "begun", "on its way", "judged"]
    id: str
    words: str = ""
    share: float | None = None
    judgement: Judgement | None = None


def judge_all(
    claims: dict[str, Claim],
    root: Path,
    *,
    budget: str = "quick",
    seed: int = 0,
    processes: int | None = None,
    afterwards: Afterwards | None = None,
) -> Iterator[Event]:
    """Judge the claims that are not judged yet, the longest first; what happens comes as events.

    A process hands each judgement to `afterwards` (a function of a module, since it has to travel) before it goes on:
    what has to be done with all of them, such as drawing, is then done side by side as well.
    """
    left: list[Claim] = []
    for claim in claims.values():
        path = judgement_path(root, claim, budget, seed)
        if path.exists():
            yield Event("found", claim.id, judgement=load(path, (claim.id, budget, seed)))
        else:
            left.append(claim)
            for part in sorted((path.parent / PARTS).glob("*.json")):
                _kept.read(part)  # damage is said now, not by an experiment that fails
    left.sort(key=lambda claim: -claim.seconds)
    count, work = processes or cores(), _Work(root, budget, seed, afterwards)
    while left:
        # A process that died (of lack of memory, say) takes its pool with it. Whose process it was is not known if
        # several were busy: those claims are tried again, one at a time, and the rest goes on.
        judged: set[str] = set()
        busy: set[str] = set()
        for event in _with_a_pool(left, work, min(count, len(left))):
            (judged if event.kind == "judged" else busy).add(event.id)
            yield event
        suspects = [claim for claim in left if claim.id in busy - judged]
        left = [claim for claim in left if claim.id not in busy | judged]
        for claim in suspects:
            yield from _alone(claim, work, again=len(suspects) > 1)
        if left and not busy | judged:
            raise RuntimeError("the processes that should judge claims die before they begin; is memory short?")


@dataclass(frozen=True)
class _Work:
    """What all claims have in common; it travels to the processes."""

    root: Path
    budget: str
    seed: int
    afterwards: Afterwards | None


def _alone(claim: Claim, work: _Work, *, again: bool) -> Iterator[Event]:
    """A claim that was busy when a process died: find what it left, or try it again, or say that it died."""
    path = judgement_path(work.root, claim, work.budget, work.seed)
    if again and not path.exists():
        judged = False
        for event in _with_a_pool([claim], work, 1):
            yield event
            judged = judged or event.kind == "judged"
        if judged:
            return
    words = "its process died; if memory was short, try `descant reproduce` with --processes 1."
    lost = Judgement(claim.id, work.budget, work.seed, 0.0, None, words, {})
    yield Event("judged", claim.id, judgement=load(path, (claim.id, work.budget, work.seed)) if path.exists() else lost)


def _with_a_pool(claims: list[Claim], work: _Work, processes: int) -> Iterator[Event]:
    """Events of one pool of processes; ends early if it broke."""
    context = multiprocessing.get_context("spawn")
    # Simple, because it writes at once: what a process said before it died is read.
    news = context.SimpleQueue()
    # Nothing is ever sent through this pipe. Its other end closes when we close it or when we are gone, however that
    # came. (No `Event`: setting one waits for a process that died while it waited.)
    end, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(processes, context, _begin, (news, end))
    judged: set[str] = set()
    try:
        with _deaf_to_interrupts():
            waiting: list[Future] = [pool.submit(_judge_here, claim.id, work) for claim in claims]
        while waiting:
            # News travels on its own way: some may arrive after the judgement.
            yield from (event for event in _read(news) if event.id not in judged)
            done = [future for future in waiting if future.done()]
            waiting = [future for future in waiting if not future.done()]
            broken = False
            for future in done:
                try:
                    judgement = future.result()
                except BrokenProcessPool:
                    broken = True
                    continue
                judged.add(judgement.id)
                yield Event("judged", judgement.id, judgement=judgement)
            if broken:
                yield from (event for event in _read(news) if event.id not in judged)
                return
            if not done:
                time.sleep(PAUSE_S)
    finally:
        # Also when the caller was interrupted: processes that are in the middle of something are not waited for.
        ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
        end.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started here don't hear Ctrl-C, from their first moment on: the parent decides, and tells them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _read(news: Any) -> Iterator[Event]:
    while not news.empty():
        yield news.get()


# What a process of the pool was given when it began.
_NEWS: Any = None


def _begin(news: Any, end: Any) -> None:
    global _NEWS
    _NEWS = news
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        end.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _judge_here(id: str, work: _Work) -> Judgement:
    _NEWS.put(Event("begun", id))

    def tell(words: str, share: float | None) -> None:
        _NEWS.put(Event("on its way", id, words, share))

    judgement = judge(find([id])[id], work.root, budget=work.budget, seed=work.seed, tell=tell)
    if work.afterwards is not None:
        work.afterwards(work.root, judgement)
    return judgement
