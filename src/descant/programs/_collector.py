"""Python's collector of cycles, put off."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Put the collector off until the end of the block.

    Compiling makes hundreds of thousands of small tuples that live till its end, and hardly a cycle. The collector
    would walk over all of them again and again: a third of the time.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
