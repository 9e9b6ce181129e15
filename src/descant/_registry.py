"""Things of one sort by name: ours, those of installed packages, and a user's own as `module:name`."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def look_here() -> None:
    """Let modules of the present folder be found: a console script does not look there by itself."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def is_reference(text: str) -> bool:
    """Whether a text has the form `module:name`."""
    module, _, name = text.partition(":")
    return all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def fits(make: Any, *arguments: Any) -> bool:
    """Whether something can be called with these arguments; what doesn't tell what it takes can't."""
    try:
        inspect.signature(make).bind(*arguments)
    except (TypeError, ValueError):
        return False
    return True


def made(asked: str, make: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a user's function makes; a `ValueError` of its own passes, and other exceptions become one.

    **Arguments:** `asked` begins the sentence: "task is 'my_module:MyTask'".
    """
    try:
        return make(*arguments, **named)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"{asked}, which raises {told(error)}") from error


def told(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def imported(reference: str, what: str, expected: str = "expected module:name, such as my_module:MyClass") -> Any:
    """The object that `module:name` stands for; the module is looked for in the present folder too."""
    module, _, name = reference.partition(":")
    if not is_reference(reference):
        raise ValueError(f"{what} is {reference!r}; {expected}.")
    look_here()
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            raise ValueError(
                f"{what} is {reference!r}, but there is no module {module!r} in the present folder or on PYTHONPATH; "
                f"{expected}."
            ) from None
        raise ValueError(f"{what} is {reference!r}, but importing {module!r} raises {told(error)}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{what} is {reference!r}, but the module {module!r} has no {name!r}.")
        found = getattr(found, part)
    return found


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Records by name. `get` also takes `module:name`, and what installed packages bring in as entry points.

    **Arguments:** `what` names the sort in sentences ("model"); `group` is the entry points' group ("descant.models");
    `record` turns what a user's module has under a name into a record, and raises a `ValueError` if it can't.

    >>> numbers = Registry("number", "descant.numbers", float)
    >>> numbers.add("half", 0.5)
    0.5
    >>> numbers.get("half"), numbers.get("math:pi")
    (0.5, 3.141592653589793)
    """

    what: str
    group: str
    record: Callable[[Any], T]
    _records: dict[str, T] = field(default_factory=dict)

    def add(self, name: str, record: T) -> T:
        """Enter a record; a name can be taken only once."""
        if name in self._records:
            raise ValueError(f"two records are called {name!r}; expected each {self.what} once.")
        self._records[name] = record
        return record

    def names(self) -> list[str]:
        """All names: ours in the order they were entered, then those of installed packages."""
        return [*self._records, *(name for name in self._points() if name not in self._records)]

    def get(self, name: str) -> T:
        """The record of this name, or of a user's `module:name`."""
        if name in self._records:
            return self._records[name]
        points = self._points()
        if name in points:
            return self.record(made(f"{self.what} is {name!r}, of an installed package", points[name].load))
        ours = f"expected one of: {', '.join(self.names())}; or your own, as module:name"
        if is_reference(name):
            return self.record(imported(name, self.what, ours))
        raise ValueError(f"{self.what} is {name!r}; {ours}.")

    def split(self, text: str) -> tuple[T, str]:
        """The record that a text begins with, and what stands behind it: `uniform:5`, or `my_module:Law:0.1,3`."""
        name, _, rest = text.partition(":")
        if name in self._records or name in self._points() or ":" not in text:
            return self.get(name), rest
        attribute, _, rest = rest.partition(":")
        return self.get(f"{name}:{attribute}"), rest

    def __iter__(self) -> Iterator[tuple[str, T]]:
        """Pairs of name and record."""
        return ((name, self.get(name)) for name in self.names())

    def _points(self) -> dict[str, Any]:
        return {point.name: point for point in entry_points(group=self.group)}
