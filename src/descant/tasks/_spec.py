"""Laws as short texts: a name, and numbers behind it."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from .._registry import Registry, told

Law = TypeVar("Law")
Maker = Callable[..., Any]


def law_registry(what: str, group: str) -> Registry[Maker]:
    """Makers of laws by name; a maker is a class or a function that takes numbers."""

    def maker(thing: Any) -> Maker:
        if not callable(thing):
            raise ValueError(f"{what} is {thing!r}; expected a class or a function that makes a law from numbers.")
        return thing  # pyright: ignore[reportReturnType]

    return Registry(what, group, maker)


def parse_law(registry: Registry[Maker], sort: type[Law], spec: str, **known: Any) -> Law:
    """The law that `name`, `name:numbers` or `module:name:numbers` means.

    **Arguments:** the maker of this name is called with the numbers, and with those of the `known` values (d, mean,
    scale) for which it has arguments of that name that the numbers don't fill.
    """
    make, rest = registry.split(spec)
    expected = f"laws: {', '.join(registry.names())}, or your own as module:name:numbers"
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise ValueError(f"{registry.what} is {spec!r}, and {rest!r} is no list of numbers; {expected}.") from None
    try:
        signature = inspect.signature(make)
        filled = signature.bind_partial(*numbers).arguments
        given = {name: known[name] for name in known if name in signature.parameters and name not in filled}
        signature.bind(*numbers, **given)
    except (TypeError, ValueError):
        ours = spec.partition(":")[0] in registry.names()
        which = "which" if ours else "which is no law, or"
        raise ValueError(f"{registry.what} is {spec!r}, {which} has too few or too many numbers; {expected}.") from None
    try:
        law = make(*numbers, **given)
    except ValueError as error:
        # A field is named as `prior.df`; who wrote the text doesn't know of it.
        raise ValueError(f"{registry.what} is {spec!r}: {str(error).replace(f'{registry.what}.', 'its ', 1)}") from None
    except Exception as error:
        raise ValueError(f"{registry.what} is {spec!r}, which raises {told(error)}") from error
    if not isinstance(law, sort):
        raise ValueError(
            f"{registry.what} is {spec!r}, which makes a {type(law).__name__}; expected an {sort.__name__}."
        )
    return law
