"""What a training is to the outside: a state that is advanced step by step, and can be put on disk between steps."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class State:
    """All that a training needs to go on: arrays by name, and plain values that JSON can hold.

    A training that is continued from a stored state ends in the same bits as one that was never interrupted: keys are
    folded from the step, and nothing else is remembered.
    """

    arrays: dict[str, np.ndarray]
    info: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Trainer(Protocol):
    """A training, as the store of runs drives it."""

    @abstractmethod
    def init(self) -> State:
        """The state before the first step."""

    @abstractmethod
    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """Go on for a while (about a second); the new state, and a row of metrics per thing worth telling.

        A row has `loss`, and `progress`: about how much of the work is done, between 0 and 1.
        """

    @abstractmethod
    def finished(self, state: State) -> bool:
        """Whether there is nothing left to do."""

    @abstractmethod
    def model(self, state: State) -> Any:
        """The model as it is now."""


def to_end(
    trainer: Trainer,
    state: State | None = None,
    *,
    each: Callable[[State, list[dict[str, Any]]], Any] | None = None,
    stop: Callable[[], bool] | None = None,
) -> State:
    """Advance a training until it is finished, or until `stop()` says so between two advances; the state then.

    `state` is where it goes on from, by default its beginning; `each` sees every new state with its rows.
    """
    state = trainer.init() if state is None else state
    while not trainer.finished(state) and not (stop is not None and stop()):
        state, rows = trainer.advance(state)
        if each is not None:
            each(state, rows)
    return state
