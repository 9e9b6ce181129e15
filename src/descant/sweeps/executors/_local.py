"""Jobs in this process, one after the other."""

from collections.abc import Iterator, Sequence

from .._outcome import Outcome
from .._plan import Job
from .._work import work
from ._executor import AbstractExecutor, Lost


class LocalExecutor(AbstractExecutor):
    """Points one group after the other, in this very process."""

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, list[Outcome] | Lost]]:
        """One job after the other."""
        for job in jobs:
            yield job, work(job)

    def in_words(self) -> str:
        """Who works."""
        return "this process"

    def close(self) -> None:
        """Nothing is held."""
