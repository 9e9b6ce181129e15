"""One line on the terminal while much is drawn or tried: how much of it is, and how long the rest will take."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .._watching import watching

# Draws that are done before are not worth a line; and so often it changes.
PATIENCE_S, EVERY_S = 2.0, 0.25
CLEAR = "\r\033[K"


@contextmanager
def shown() -> Iterator[None]:
    """Within the block long draws are shown, if anybody is watching."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    line = _Line()
    token = watching.set(line.show)
    try:
        yield
    finally:
        watching.reset(token)
        line.clear()


class _Line:
    def __init__(self):
        self._began, self._last, self._share = 0.0, 0.0, 1.0

    def show(self, share: float, what: str) -> None:
        """Draw it, unless it was drawn a moment ago."""
        now = time.monotonic()
        if share < self._share:
            self._began = self._last = now
        self._share = share
        if share == 1.0:
            self.clear()
        elif now - self._began > PATIENCE_S and now - self._last > EVERY_S:
            self._last = now
            left = (now - self._began) * (1 - share) / share
            sys.stderr.write(f"{CLEAR}{share:.1%} of {what}, about {left:.0f} s left")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take it away."""
        if self._last > self._began:
            self._last = self._began
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
