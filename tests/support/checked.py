"""Types and shapes at run time, without checking the same call a hundred thousand times.

A check takes some ten times as long as a step of a search on a few numbers. So of every function the first calls of a
test are checked, all of them, and of those that follow every so many-th.
"""

import functools
import inspect
from collections.abc import Callable

import jaxtyping

FIRST, EVERY = 100, 101

# Calls of the test that is under way, by function.
_calls: dict[Callable, int] = {}


def forget_calls() -> None:
    """Begin to count anew; before every test."""
    _calls.clear()


def sparing(check: Callable) -> Callable:
    """`jaxtyping.jaxtyped`, whose functions are checked as said above; what is checked of a class stays the same."""

    def decorate(thing=None, **options):
        if thing is None:
            return functools.partial(decorate, **options)
        checked = check(thing, **options)
        if not inspect.isfunction(thing):
            return checked

        @functools.wraps(thing)
        def either(*args, **kwargs):
            __tracebackhide__ = True
            _calls[thing] = calls = _calls.get(thing, 0) + 1
            return (checked if calls <= FIRST or calls % EVERY == 0 else thing)(*args, **kwargs)

        return either

    return decorate


def install(rooms: list[str]) -> None:
    """Check the functions of these rooms; must come before they are imported."""
    jaxtyping.jaxtyped = sparing(jaxtyping.jaxtyped)
    jaxtyping.install_import_hook(rooms, "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
