"""A task of one's own, by name."""

import inspect

from .._registry import imported
from ._task import AbstractTask


def own_task(reference: str, d: int, n: int) -> AbstractTask:
    """The task that `module:name` makes of d and n: a class of one's own, or a function."""
    make = imported(reference, "task")
    if not callable(make):
        raise ValueError(f"task is {reference!r}, which is {make!r}; expected a class or a function of d and n.")
    try:
        inspect.signature(make).bind(d, n)
    except TypeError:
        raise ValueError(f"task is {reference!r}, which can't be called with d and n alone.") from None
    made = make(d, n)
    if not isinstance(made, AbstractTask):
        raise ValueError(f"task is {reference!r}, which makes a {type(made).__name__}; expected an AbstractTask.")
    return made
