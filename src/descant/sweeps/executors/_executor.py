"""What an executor is: it takes jobs and tells, in whatever order, what came of each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._outcome import Outcome
from .._plan import Job


@dataclass(frozen=True)
class Lost:
    """A worker died on a job; nothing of it is known but that."""

    reason: str


class AbstractExecutor(ABC):
    """Does jobs somewhere. Which outcomes come out must not depend on which executor it is, nor on the order."""

    @abstractmethod
    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, list[Outcome] | Lost]]:
        """Every job with its outcomes, or with word that its worker died; whoever stops listening ends the workers."""

    @abstractmethod
    def in_words(self) -> str:
        """Who works."""

    @abstractmethod
    def close(self) -> None:
        """Let go of whatever was held between runs."""
