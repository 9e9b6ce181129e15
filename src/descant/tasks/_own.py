"""A task of one's own, by name."""

from .._registry import fits, imported, made
from ._task import AbstractTask


def own_task(reference: str, d: int, n: int) -> AbstractTask:
    """The task that `module:name` makes of d and n: a class of one's own, or a function.

    The module is looked for in the present folder too; anything that is no `AbstractTask` is a `ValueError`.

    >>> own_task("descant.tasks:LinearRegression", 3, 8).n
    8
    """
    make = imported(reference, "task")
    if not callable(make):
        raise ValueError(f"task is {reference!r}, which is {make!r}; expected a class or a function of d and n.")
    if not fits(make, d, n):
        raise ValueError(f"task is {reference!r}, which can't be called with d and n alone.")
    task = made(f"task is {reference!r}", make, d, n)
    if not isinstance(task, AbstractTask):
        raise ValueError(f"task is {reference!r}, which makes a {type(task).__name__}; expected an AbstractTask.")
    return task
