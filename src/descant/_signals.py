"""SIGTERM as polite as Ctrl-C: work ends between two steps, and what was finished is kept."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

# What asks a process to end, and may be put off for a moment.
ASKING = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM; whoever handles Ctrl-C handles this."""


# What was asked for since a command began.
_ASKED: list[int] = []


@contextmanager
def terminate_politely() -> Iterator[None]:
    """Within the block SIGTERM raises `Terminated` in the main thread; in another thread this does nothing."""
    _ASKED.clear()
    before = sys.unraisablehook
    # Raised in garbage collection it is lost, and would be printed: `remind` raises it again.
    sys.unraisablehook = lambda lost: None if issubclass(lost.exc_type, KeyboardInterrupt) else before(lost)
    try:
        with _handled(ASKING, _ask):
            yield
    finally:
        sys.unraisablehook = before
    _ASKED.clear()


def remind() -> None:
    """Raise again what was asked for, for those who work in steps: what is raised in garbage collection is lost."""
    if _ASKED:
        _ask(_ASKED[-1], None)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM to the end of the block."""
    came: list[int] = []
    with _handled(ASKING, lambda number, _: came.append(number)):
        yield
    for number in dict.fromkeys(came):
        signal.raise_signal(number)


def _ask(number: int, _: Any) -> NoReturn:
    _ASKED.append(number)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


@contextmanager
def _handled(numbers: tuple[int, ...], handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals only ever come to the main thread
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            # None: a handler that was not installed from Python.
            signal.signal(number, signal.SIG_DFL if old is None else old)
