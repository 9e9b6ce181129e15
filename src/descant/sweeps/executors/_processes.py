"""Jobs in processes of this machine, each with a pipe of its own: whose process died is known."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from ... import _check
from ..._cores import cores
from .._outcome import Outcome
from .._plan import Job
from .._work import work
from ._executor import AbstractExecutor, Lost

# Workers that die before they have done anything, one after the other: then something else is wrong.
MOST_STILLBORN = 8


class ProcessExecutor(AbstractExecutor):
    """Processes of this machine, started afresh; as many as there are cores if `workers` is None."""

    def __init__(self, workers: int | None = None):
        if workers is not None:
            _check.size("--workers", workers)
        self.workers = workers or cores()

    def in_words(self) -> str:
        """Who works."""
        return f"{self.workers} processes"

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, list[Outcome] | Lost]]:
        """Jobs go to whoever is idle."""
        context = multiprocessing.get_context("spawn")
        waiting, team = deque(jobs), []
        stillborn = 0
        try:
            while waiting or any(each.job is not None for each in team):
                while len(team) < min(self.workers, len(waiting) + sum(each.job is not None for each in team)):
                    team.append(_Worker(context))
                for worker in team:
                    if worker.job is None and waiting:
                        worker.give(waiting.popleft())
                busy = {worker.pipe: worker for worker in team if worker.job is not None}
                for pipe in wait(list(busy)):
                    worker = busy[pipe]  # pyright: ignore[reportArgumentType]
                    job, answer = worker.taken()
                    if isinstance(answer, Lost):
                        team.remove(worker)
                        stillborn = 0 if worker.proved else stillborn + 1
                        if stillborn == MOST_STILLBORN:
                            raise RuntimeError(f"the processes that should work die before they begin: {answer.reason}")
                    yield job, answer
        finally:
            for worker in team:
                worker.end()

    def close(self) -> None:
        """Nothing is held."""


class _Worker:
    """A process, the job that it has, and whether it has ever done one."""

    def __init__(self, context: Any):
        self.pipe, theirs = context.Pipe()
        # Nothing is ever sent through this one: its end closes when we are gone, however that came.
        end, self._ours = context.Pipe(duplex=False)
        self.process = context.Process(target=_serve, args=(theirs, end), daemon=True)
        # A process that is started here doesn't hear Ctrl-C, from its first moment on.
        with _deaf():
            self.process.start()
        theirs.close()
        end.close()
        self.job: Job | None = None
        self.proved = False

    def give(self, job: Job) -> None:
        self.job = job
        with suppress(OSError):  # it died while it was idle: `taken` says so
            self.pipe.send(job)

    def taken(self) -> tuple[Job, list[Outcome] | Lost]:
        job, self.job = self.job, None
        assert job is not None
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return job, Lost(f"its process died ({_ending(self.process.exitcode)})")
        if isinstance(answer, Exception):
            raise answer
        self.proved = True
        return job, answer

    def end(self) -> None:
        self._ours.close()
        self.pipe.close()
        self.process.join()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"


class _deaf:
    """Within the block Ctrl-C is not heard; in another thread than the main one this does nothing."""

    def __enter__(self) -> None:
        main = threading.current_thread() is threading.main_thread()
        self._before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _serve(pipe: Connection, end: Connection) -> None:
    """What a worker does until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        end.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            os._exit(0)
        try:
            answer: Any = work(job)
        except Exception as error:  # not of a point: of the worker itself, such as another version of the code
            answer = RuntimeError(str(error)) if not isinstance(error, ValueError) else error
        pipe.send(answer)
