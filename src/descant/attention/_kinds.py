"""All kinds of models by name. A file of this room that has a record called KIND is found by itself."""

import os
import pkgutil
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from jaxtyping import PRNGKeyArray

from .._predictor import AbstractPredictor
from .._registry import Registry
from ..tasks import AbstractTask
from ._kind import Kind, as_kind

# Kinds that a user's files may hold: module:name, separated by commas.
VARIABLE = "DESCANT_KINDS"

# The kinds of models by name: ours, those of files (`module:name`), those of installed packages.
KINDS = Registry("model", "descant.kinds", as_kind)
# What `kinds=` takes.
Named = Kind | type[AbstractPredictor] | str


OURS: list[Kind] = []


def discover(room: str, path: Iterable[str]) -> None:
    """Enter the records of a room's files, once."""
    for file in pkgutil.iter_modules(path):
        module = import_module(f"{room}.{file.name}")
        if hasattr(module, "KIND"):
            OURS.append(KINDS.add(module.KIND.name, module.KIND))


def make_model(name: str, task: AbstractTask, *, key: PRNGKeyArray, **options: Any) -> Any:
    """A model with random weights, of the size that the task's contexts call for.

    **Arguments:** `name` of its kind (`descant models` lists them), or `module:name` of one of your own; `options` are
    those of the kind, such as layers and heads.

    >>> import jax
    >>> from descant import LinearRegression
    >>> make_model("diag", LinearRegression(3, 8), layers=2, key=jax.random.key(0)).layers
    2
    """
    return KINDS.get(name).made(task, key=key, **options)


def named(kinds: Named | Iterable[Named]) -> list[Kind]:
    """Records from records, classes and `module:name`, one or many."""
    kinds = [kinds] if isinstance(kinds, (Kind, type, str)) else kinds
    return [KINDS.get(kind) if isinstance(kind, str) else as_kind(kind) for kind in kinds]


def brought_along() -> list[Kind]:
    """The kinds of installed packages, and those that the environment variable DESCANT_KINDS names."""
    ours = {kind.name for kind in OURS}
    references = [part.strip() for part in os.environ.get(VARIABLE, "").split(",") if part.strip()]
    return named([name for name in KINDS.names() if name not in ours] + references)
