"""Driving a training: advance, keep, advance; whatever stops it, it goes on later from the last state that was kept."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from .._signals import remind, uninterrupted
from .._trainer import State, Trainer, to_end
from ._run import Run
from ._snapshots import MOST_BYTES, due
from ._trackers import Tracker

EVERY_S = 2.0


def drive(
    trainer: Trainer,
    run: Run,
    *,
    trackers: Sequence[Tracker] = (),
    on_rows: Callable[[list[dict[str, Any]]], Any] | None = None,
    stop: Callable[[], bool] | None = None,
    every: float = EVERY_S,
    snapshot: Callable[[State], bytes] | None = None,
) -> State:
    """Train until finished, or until `stop()` says so between two advances, and return the state then.

    Goes on from the run's checkpoint, if it has one. The state is kept on disk about every `every` seconds, and when
    the driving ends for whatever reason: finished, stopped, Ctrl-C, SIGTERM, an error of the training's own. What comes
    out doesn't depend on when it was kept. `on_rows` sees rows at once, trackers when they are on disk.

    `snapshot` gives the bytes of the model of a state. It is asked after 1, 2, 3, 4, 6, 8, 12, ... rows, and what it
    gives is kept (`Run.snapshots`), unless it is larger than 4 MiB.

    Call `run.finish(trainer.model(state), result)` if `trainer.finished(state)`.
    """
    with run.working():
        if run.finished:
            raise ValueError(f"the run {run.name} is finished; read its result, or delete it to do it again.")
        for tracker in trackers:
            tracker.start(run.name, run.config)
        begun = run.checkpoint()
        if begun is not None:
            run.records()  # damaged rows are found now, not when all is done
        keeper = _Keeper(run, begun or trainer.init(), trackers, snapshot)

        def each(state: State, rows: list[dict[str, Any]]) -> None:
            keeper.hold(state, rows)
            remind()
            if on_rows is not None:
                on_rows(rows)
            if time.monotonic() - keeper.kept_at >= every:
                keeper.keep()

        try:
            return to_end(trainer, keeper.whole[0], each=each, stop=stop)
        finally:
            keeper.keep()


class _Keeper:
    """The last whole state, and the rows since the last checkpoint; the two change together or not at all."""

    def __init__(self, run: Run, state: State, trackers: Sequence[Tracker], snapshot: Callable[[State], bytes] | None):
        self.run, self.trackers, self.snapshot = run, trackers, snapshot
        self.rows, self.snapshots = run.rows, dict[int, bytes]()
        self.whole: tuple[State, list[dict[str, Any]]] = (state, [])
        self.dirty = False
        self.kept_at = time.monotonic()

    def hold(self, state: State, rows: list[dict[str, Any]]) -> None:
        count = self.rows + len(rows)
        taken = self.snapshot(state) if self.snapshot is not None and due(self.rows, count) else None
        with uninterrupted():
            self.whole, self.dirty, self.rows = (state, self.whole[1] + rows), True, count
            if taken is not None and len(taken) <= MOST_BYTES:
                self.snapshots[count] = taken

    def keep(self) -> None:
        """Save, if there is anything new. If that failed once it isn't tried again: nobody knows how far it came."""
        with uninterrupted():
            if not self.dirty:
                return
            self.dirty = False
            state, rows = self.whole
            if self.snapshots:
                self.run.save(state, rows, self.snapshots)
            else:
                self.run.save(state, rows)
            self.whole, self.snapshots = (state, []), {}
            self.kept_at = time.monotonic()
        for tracker in self.trackers:
            tracker.log(rows)
