"""Run a sweep: what is kept is found, the rest is done by an executor, and kept as it comes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ._outcome import Outcome
from ._plan import Job, Plan
from ._store import Store
from .executors import AbstractExecutor, Lost


@dataclass
class Progress:
    """How far a sweep is: outcomes by address, of which `found` were kept before."""

    total: int
    found: int
    outcomes: dict[str, Outcome] = field(default_factory=dict, repr=False)

    @property
    def share(self) -> float:
        """How much is done, between 0 and 1, of what was left at the beginning."""
        left = self.total - self.found
        return (len(self.outcomes) - self.found) / left if left else 1.0

    @property
    def failed(self) -> dict[str, Outcome]:
        """The points that failed."""
        return {address: outcome for address, outcome in self.outcomes.items() if not outcome.done}


def run_sweep(plan: Plan, store: Store, executor: AbstractExecutor) -> Iterator[Progress]:
    """Do what is left of a sweep; tells how far it is after every job, always of the same object.

    Outcomes are kept as they come: whatever happens, at most the jobs under way are lost. Points on which a worker died
    are tried again, each alone; a point whose worker dies again has failed. Failed points are not kept: next time they
    are tried again.
    """
    kept = store.find(plan.points)
    progress = Progress(len(plan.points), len(kept), dict(kept))
    yield progress
    suspects: list[Job] = []
    for job, answer in executor.run(plan.jobs(without=kept)):
        if isinstance(answer, Lost):
            suspects += job.alone()
        else:
            _keep(store, progress, job, answer)
        yield progress
    for job, answer in executor.run(suspects) if suspects else ():
        lost = [Outcome.failed(answer.reason)] if isinstance(answer, Lost) else answer
        _keep(store, progress, job, lost)
        yield progress


def _keep(store: Store, progress: Progress, job: Job, outcomes: list[Outcome]) -> None:
    named = dict(zip(job.addresses, outcomes, strict=True))
    store.keep({address: outcome for address, outcome in named.items() if outcome.done})
    progress.outcomes |= named
