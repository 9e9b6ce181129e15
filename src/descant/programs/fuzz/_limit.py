"""A limit on the time that something takes, counted in this process's own time: other work on the machine is free."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class TooSlow(Exception):
    """The time is over."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in the block when its time is over; where there are no such signals, this does nothing."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _over)
    # Again after a moment: what is raised in garbage collection is lost.
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _over(*_: Any) -> NoReturn:
    raise TooSlow
