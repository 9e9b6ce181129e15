"""Abstract or final: classes of this package that can be drawn, measured or trained are one or the other.

What a class knows (its moments, its posterior, its exact risk) holds for its own methods. A subclass that overrides one
of them would inherit the rest, and with it wrong numbers that look exact. So only classes named `Abstract...` can be
subclassed.
"""

import equinox as eqx


def is_ours(kind: type) -> bool:
    """Whether a class is the package's own, so that what it says of itself has been tested."""
    return kind.__module__.partition(".")[0] == "descant"


class AbstractOpen(eqx.Module):
    """Base of what users bring along: subclass the abstract classes, not the concrete ones."""

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        for base in cls.__mro__[1:]:
            if is_ours(base) and issubclass(base, AbstractOpen) and not base.__name__.startswith("Abstract"):
                parents = [parent.__name__ for parent in base.__mro__[1:] if parent.__name__.startswith("Abstract")]
                raise TypeError(
                    f"{cls.__name__} is a subclass of {base.__name__}, which is final: what {base.__name__} knows of "
                    f"itself would not hold for a subclass. Subclass {parents[0]}, "
                    f"or hold a {base.__name__} in a field."
                )
