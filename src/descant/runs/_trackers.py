"""Other people's trackers of experiments, for those who want them. Nothing is imported or sent unless asked for."""

from abc import abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from .. import _check

NAMES = ("trackio", "wandb")


@runtime_checkable
class Tracker(Protocol):
    """What is told about a run while it is under way."""

    @abstractmethod
    def start(self, name: str, config: dict[str, Any]) -> None:
        """A run begins, or goes on under the same name."""

    @abstractmethod
    def log(self, rows: Sequence[dict[str, Any]]) -> None:
        """Rows that are on disk now. None is told twice; after a crash a few may be missing here."""

    @abstractmethod
    def finish(self, result: dict[str, Any]) -> None:
        """The run is finished."""


class _Service:
    """Trackio and Weights & Biases: the former has the latter's functions."""

    def __init__(self, name: str, project: str):
        try:
            self.module: Any = import_module(name)
        except ImportError:
            raise ImportError(
                f"the tracker {name!r} needs the package {name}, which is not installed: pip install {name}, or leave "
                "the tracker out; runs are kept on disk without it."
            ) from None
        self.name, self.project = name, project

    def start(self, name: str, config: dict[str, Any]) -> None:
        identity = {"id": name} if self.name == "wandb" else {}  # Trackio finds a run to go on with by its name
        self.module.init(project=self.project, name=name, config=config, resume="allow", **identity)

    def log(self, rows: Sequence[dict[str, Any]]) -> None:
        for row in rows:
            self.module.log(row)

    def finish(self, result: dict[str, Any]) -> None:
        self.module.log(result)
        self.module.finish()


def tracker(name: str, *, project: str = "descant") -> Tracker:
    """A tracker by its name: trackio or wandb."""
    _check.one_of("tracker", name, NAMES)
    return _Service(name, project)
