"""Packages that only some jobs need: who lacks one is told which extra of Descant brings it."""

from importlib.util import find_spec

# The extra that brings a package, by the name under which it is imported.
EXTRAS = {"duckdb": "tables", "pyarrow": "tables", "sklearn": "claims"}
# What a package is called where it is installed, if that is another name.
CALLED = {"sklearn": "scikit-learn"}


class MissingExtra(ImportError, ValueError):
    """A package is not installed that an extra brings. To the shell it is a mistake in what was asked for."""


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported for that.

    >>> installed("json"), installed("no_such_package")
    (True, False)
    """
    return find_spec(package) is not None


def require(package: str, what: str) -> None:
    """Say which extra is missing if a package is: `what` needs it.

    >>> require("pyarrow", "a table")
    """
    if not installed(package):
        raise MissingExtra(
            f"{what} needs {CALLED.get(package, package)}, which is not installed; "
            f"`pip install '.[{EXTRAS[package]}]'` in a clone gets it."
        )
