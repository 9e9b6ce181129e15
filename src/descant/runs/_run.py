"""One run: a folder that is whole at every moment.

config.json              what was asked for, by what code, on what machine; written first
metrics.jsonl            rows of metrics while it is under way
checkpoint.safetensors   the state to go on from, and how many of the rows belong to it
metrics.parquet, model.safetensors, result.json
                         what came out; result.json is written last, and is there if and only if the run is finished
"""

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import pyarrow as pa

from .._disk import remove, write_at, write_whole
from .._lock import is_locked, locked
from .._plain import page, restored
from .._trainer import State
from ..attention import Named, load, to_bytes
from . import _checkpoint, _metrics
from ._trackers import Tracker

FORMAT = "descant-run-1"
CONFIG, RESULT, MODEL = "config.json", "result.json", "model.safetensors"
LINES, PARQUET, CHECKPOINT = "metrics.jsonl", "metrics.parquet", "checkpoint.safetensors"


class Run:
    """A run on disk. Reading is always possible; writing takes the run's lock, which one process at a time can hold."""

    folder: Path
    key: str
    code: str
    config: dict[str, Any]
    environment: dict[str, Any]

    def __init__(self, folder: Path):
        self.folder = folder
        head = _read_json(folder / CONFIG)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError(f"{folder / CONFIG} is not of the format {FORMAT!r}: the folder holds no run of Descant.")
        try:
            self.key, self.code = head["key"], head["code"]
            self.config, self.environment = head["config"], head["environment"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{folder / CONFIG} lacks {error}; delete the run and start it again.") from None
        self._holder: int | None = None

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.state})"

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return (self.folder / RESULT).exists()

    @property
    def state(self) -> Literal["finished", "running", "stopped"]:
        """Finished, or under way in a living process, or to be continued."""
        if self.finished:
            return "finished"
        return "running" if is_locked(self.folder) else "stopped"

    @property
    def result(self) -> dict[str, Any] | None:
        """What came out; None while it is under way."""
        try:
            result = _read_json(self.folder / RESULT)
        except FileNotFoundError:
            return None
        if not isinstance(result, dict):
            raise ValueError(f"{self.folder / RESULT} is not a JSON object; delete the run and start it again.")
        return result

    @property
    def updated(self) -> float:
        """When it was last written to, in seconds since 1970."""
        latest = 0.0
        for path in self._files(RESULT, CHECKPOINT, CONFIG):
            with suppress(FileNotFoundError):
                latest = max(latest, path.stat().st_mtime)
        return latest

    def metrics(self) -> pa.Table:
        """All rows so far: those that belong to the last checkpoint, or all of a finished run."""
        if not self.finished:
            try:
                table = _metrics.to_table(self._rows())
            except FileNotFoundError:
                table = None
            # The run may have been finished, and tidied up, while we read.
            if not self.finished:
                if table is None:
                    raise ValueError(f"{self.folder / LINES} is missing; delete the run and start it again.")
                return table
        return _metrics.read_parquet(self.folder / PARQUET)

    def model(self, kinds: Named | Iterable[Named] = ()) -> Any:
        """The trained model; `kinds` are one or many records, classes or `module:name`, as `load` takes them."""
        if not self.finished:
            raise ValueError(f"the run {self.name} is not finished and has no model yet: let it finish first.")
        return load(self.folder / MODEL, kinds)

    def checkpoint(self) -> State | None:
        """The state to go on from; None before the first is saved."""
        try:
            return _checkpoint.load(self.folder / CHECKPOINT)
        except FileNotFoundError:
            return None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock, so that no other process writes; `save` and `finish` do so by themselves for a moment."""
        if self._holder == threading.get_ident():
            yield
            return
        with locked(self.folder):
            self._holder = threading.get_ident()
            try:
                self._tidy()
                yield
            finally:
                self._holder = None

    def save(self, state: State, rows: Sequence[dict[str, Any]] = ()) -> None:
        """Keep a state, and the rows since the last one that was kept. After a crash both are there or neither."""
        with self.working():
            self._not_finished()
            before = _checkpoint.mark_of(self.folder / CHECKPOINT)
            lines = _metrics.to_lines(rows)
            after = _checkpoint.Mark(before.rows + len(rows), before.size + len(lines))
            content = _checkpoint.to_bytes(state, after)
            # First the rows, then the checkpoint that counts them:
            # rows that no checkpoint counts are cut off here later.
            write_at(self.folder / LINES, before.size, lines)
            write_whole(self.folder / CHECKPOINT, content)

    def finish(self, model: eqx.Module, result: dict[str, Any], trackers: Sequence[Tracker] = ()) -> None:
        """Keep what came out. The run is finished from the moment at which the result is on disk, its last file."""
        with self.working():
            self._not_finished()
            contents = {
                PARQUET: _metrics.to_parquet(_metrics.to_table(self._rows())),
                MODEL: to_bytes(model),
                RESULT: page("result", result),
            }
            for name, content in contents.items():
                write_whole(self.folder / name, content)
            self._tidy()
        for tracker in trackers:
            tracker.finish(result)

    def tidy(self) -> None:
        """Remove what a process killed at the very end left behind; not more than a nicety, so it never fails."""
        if self.finished and any(path.exists() for path in self._files(LINES, CHECKPOINT)):
            with suppress(OSError), self.working():
                pass

    def _tidy(self) -> None:
        for name in (CONFIG, LINES, CHECKPOINT, PARQUET, MODEL, RESULT):
            for path in self.folder.glob(f".{name}.*"):
                remove(path)
        if self.finished:
            for path in self._files(LINES, CHECKPOINT):
                remove(path)

    def _rows(self) -> list[dict[str, Any]]:
        return _metrics.read_lines(self.folder / LINES, _checkpoint.mark_of(self.folder / CHECKPOINT))

    def _files(self, *names: str) -> list[Path]:
        return [self.folder / name for name in names]

    def _not_finished(self) -> None:
        if self.finished:
            raise ValueError(f"the run {self.name} is finished; read its result, or delete it to do it again.")


def begin(folder: Path, key: str, code: str, config: dict[str, Any], environment: dict[str, Any]) -> None:
    """Write the first file of a run."""
    head = {"format": FORMAT, "key": key, "code": code, "config": config, "environment": environment}
    write_whole(folder / CONFIG, page("config", head))


def _read_json(path: Path) -> Any:
    try:
        return restored(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} can't be read as JSON: {error}; delete the run and start it again.") from None
