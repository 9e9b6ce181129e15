"""Jobs as tasks of Ray: on a cluster of this machine, which lives as long as the sweep, or on another one."""

import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from ... import _check
from ..._cores import cores
from .._outcome import Outcome
from .._plan import Job
from .._work import work
from ._executor import AbstractExecutor, Lost

# What a cluster of this machine sets aside for objects; outcomes are small.
OBJECT_BYTES = 100 * 2**20
# Tasks that wait at the cluster, for every worker that it has.
AHEAD = 2
LISTEN_S = 1.0


class RayExecutor(AbstractExecutor):
    """Tasks of Ray. `address` is that of a cluster (`auto`, or host:port); left out, one is started on this machine.

    **Arguments:** `workers` are those of the cluster that is started, or as many tasks as may be under way at one that
    is there; left out, as many as there are cores.
    """

    def __init__(self, workers: int | None = None, address: str | None = None):
        if workers is not None:
            _check.size("--workers", workers)
        self.workers, self.address = workers, address
        self._ray: Any = None

    def in_words(self) -> str:
        """Who works."""
        return f"the Ray cluster at {self.address}" if self.address else f"{self.workers or cores()} workers of Ray"

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, list[Outcome] | Lost]]:
        """A few tasks for every worker are at the cluster at a time; Ray itself tries none again."""
        ray = self._connected()
        task = ray.remote(max_retries=0, num_cpus=1)(work)
        most = AHEAD * (self.workers or int(ray.cluster_resources().get("CPU", 1)))
        waiting, under_way = deque(jobs), {}
        try:
            while waiting or under_way:
                while waiting and len(under_way) < most:
                    job = waiting.popleft()
                    under_way[task.remote(job)] = job
                ready, _ = ray.wait(list(under_way), num_returns=1, timeout=LISTEN_S)
                for each in ready:
                    yield under_way.pop(each), _answer(ray, each)
        finally:
            for each in under_way:
                ray.cancel(each, force=True)

    def close(self) -> None:
        """Let go of the cluster; one that was started here ends."""
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None

    def _connected(self) -> Any:
        if self._ray is not None:
            return self._ray
        # Nobody is told that Ray is used here.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ValueError("executor is 'ray', which is not installed; do pip install '.[ray]' in a clone.") from None
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(
                address=self.address or "local",
                include_dashboard=None if self.address else False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                num_cpus=None if self.address else self.workers or cores(),
                object_store_memory=None if self.address else OBJECT_BYTES,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"the Ray cluster {self.address or 'of this machine'} can't be reached: {error}; expected the address "
                "of a running one (auto, or host:port), or none for a new one."
            ) from None
        finally:
            if main:
                signal.signal(signal.SIGTERM, before)  # Ray puts its own in the place of ours
        self._ray = ray
        return ray


def _answer(ray: Any, reference: Any) -> list[Outcome] | Lost:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise RuntimeError(str(error.cause)) from None  # not of a point: of the worker itself
    except ray.exceptions.RayError as error:
        return Lost(f"its worker died ({type(error).__name__})")
