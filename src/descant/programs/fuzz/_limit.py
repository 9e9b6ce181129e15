"""A limit on the time that something takes, counted in this process's own time: other work on the machine is free."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class TooSlow(Exception):
    """The time is over."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in the block when its time is over; where there are no such signals, this does nothing.

    The time is that of `time.process_time`: of all threads, and of the system on their behalf. What is raised in
    garbage collection is lost, so it is raised again every half second, and at the end of the block, where the clock is
    read, too: the timer has ticks of milliseconds.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    over, began = False, time.process_time()

    def raise_it(*_: Any) -> NoReturn:
        nonlocal over
        over = True
        raise TooSlow

    handler, hook = signal.signal(signal.SIGPROF, raise_it), sys.unraisablehook
    sys.unraisablehook = lambda lost: None if issubclass(lost.exc_type, TooSlow) else hook(lost)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        sys.unraisablehook = hook
    if over or time.process_time() - began > seconds:
        raise TooSlow
