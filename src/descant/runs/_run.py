"""One run: a folder that is whole at every moment.

config.json              what was asked for, by what code, on what machine; written first
metrics.jsonl            rows of metrics while it is under way
checkpoint.safetensors   the state to go on from, and how many of the rows belong to it
snapshots.safetensors    the model after some of the rows, if the training was asked to keep it along the way
metrics.parquet, model.safetensors, result.json
                         what came out; result.json is written last, and is there if and only if the run is finished.
                         Where PyArrow is not installed the metrics stay in metrics.jsonl

Every file carries a checksum, or another file does: config.json, the checkpoint and result.json their own, the
checkpoint that of its rows, result.json those of the files that came with it. And every file is of this run: the
checkpoint and result.json hold its key, and the key is that of what config.json says.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import equinox as eqx

from .._disk import remove, write_at, write_whole
from .._extras import installed, require
from .._lock import NAME as LOCK, is_locked, locked
from .._sealed import check_fields, digest, read_page, write_page
from .._trainer import State
from ..attention import Named, load, to_bytes
from . import _checkpoint, _metrics, _snapshots
from ._checkpoint import REMEDY, Mark, check_owner
from ._key import run_key
from ._trackers import Tracker

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "descant-run-1"
CONFIG, RESULT, MODEL = "config.json", "result.json", "model.safetensors"
LINES, PARQUET, CHECKPOINT = "metrics.jsonl", "metrics.parquet", "checkpoint.safetensors"
SNAPSHOTS = "snapshots.safetensors"
HEAD = {"key": str, "code": str, "config": dict, "environment": dict}
OUTCOME = {"key": str, "result": dict, "files": dict}
# Files that come with a finished run end in these.
SUFFIXES = (".safetensors", ".json", ".parquet")
NO_HEAD = "if it is a run's, delete its folder and start the run again"


class Run:
    """A run on disk. Reading is always possible; writing takes the run's lock, which one process at a time can hold."""

    folder: Path
    key: str
    code: str
    config: dict[str, Any]
    environment: dict[str, Any]

    def __init__(self, folder: Path):
        self.folder = folder
        head = read_page(folder / CONFIG, NO_HEAD)
        if head.get("format") != FORMAT:
            raise ValueError(f"{folder / CONFIG} is not of the format {FORMAT!r}: the folder holds no run of Descant.")
        try:
            check_fields(head, HEAD)
            check_owner(head["key"], run_key(head["config"], head["code"]))
        except ValueError as error:
            raise ValueError(f"{folder / CONFIG} can't be read: {error}; {NO_HEAD}.") from None
        self.key, self.code = head["key"], head["code"]
        self.config, self.environment = head["config"], head["environment"]
        self._holder: int | None = None
        self._mark: Mark | None = None

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
        outcome = self._outcome()
        return None if outcome is None else outcome["result"]

    @property
    def files(self) -> list[str]:
        """The names of the files that a finished run came with; none while it is under way."""
        outcome = self._outcome()
        return [] if outcome is None else list(outcome["files"])

    def file(self, name: str) -> Path:
        """The path of a file that a finished run came with; a `ValueError` unless it is there as it was written."""
        path = self.folder / name
        if not self._as_written(name, self._outcome()):
            raise ValueError(f"{path} is missing, or is not the file that {RESULT} was written for; {REMEDY}.")
        return path

    def trouble(self) -> str | None:
        """What is wrong with the files on disk, in words; None if all are as they were written."""
        try:
            for name in dict.fromkeys([*self.files, MODEL]) if self.finished else ():
                self.file(name)
            self._check_rows()
        except (ValueError, OSError) as error:
            return str(error)
        return None

    def check(self) -> None:
        """A `ValueError` if `trouble` finds any; whoever is to rely on the result asks this first."""
        if (trouble := self.trouble()) is not None:
            raise ValueError(trouble)

    @property
    def updated(self) -> float:
        """When it was last written to, in seconds since 1970."""
        latest = 0.0
        for path in self._files(RESULT, CHECKPOINT, CONFIG):
            with suppress(FileNotFoundError):
                latest = max(latest, path.stat().st_mtime)
        return latest

    def metrics(self) -> "pa.Table":
        """All rows so far as a table: those that belong to the last checkpoint, or all of a finished run.

        Takes the extra `tables`; `records` has the same rows without it.
        """
        require("pyarrow", "a table of metrics")
        from . import _tables  # noqa: PLC0415  (an extra)

        rows = self._told()
        return _tables.read_parquet(self.file(PARQUET)) if rows is None else _tables.to_table(rows)

    def records(self) -> list[dict[str, Any]]:
        """All rows so far, a dictionary each, all with the same names; what a row lacks is None."""
        rows = self._told()
        if rows is not None:
            return _metrics.records(rows)
        require("pyarrow", f"{self.file(PARQUET)}, the metrics of a finished run,")
        return self.metrics().to_pylist()

    def model(self, kinds: Named | Iterable[Named] = ()) -> Any:
        """The trained model; `kinds` are one or many records, classes or `module:name`, as `load` takes them."""
        if not self.finished:
            raise ValueError(f"the run {self.name} is not finished and has no model yet: let it finish first.")
        return load(self.file(MODEL), kinds)

    def checkpoint(self) -> State | None:
        """The state to go on from; None before the first is saved."""
        try:
            return _checkpoint.load(self.folder / CHECKPOINT, self.key)[0]
        except FileNotFoundError:
            return None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock, so that no other process writes; `save` and `finish` do so by themselves for a moment."""
        if self._holder == threading.get_ident():
            yield
            return
        with locked(self.folder):
            self._holder, self._mark = threading.get_ident(), None
            try:
                self._tidy()
                yield
            finally:
                self._holder = None

    def snapshots(self) -> dict[int, bytes]:
        """The model along the way, as `to_bytes` wrote it, by how many rows there were; empty if none was kept."""
        path = self.folder / SNAPSHOTS
        if self.finished:
            return _snapshots.load(self.file(SNAPSHOTS), self.key) if SNAPSHOTS in self.files else {}
        try:
            found = _snapshots.load(path, self.key)
        except FileNotFoundError:
            return {}
        # Later ones were taken by a process that died before its checkpoint.
        rows = _checkpoint.mark_of(self.folder / CHECKPOINT, self.key).rows
        return {row: content for row, content in found.items() if row <= rows}

    @property
    def rows(self) -> int:
        """How many rows belong to the last checkpoint of a run that is under way."""
        return _checkpoint.mark_of(self.folder / CHECKPOINT, self.key).rows

    def save(
        self, state: State, rows: Sequence[dict[str, Any]] = (), snapshots: Mapping[int, bytes] | None = None
    ) -> None:
        """Keep a state, and the rows since the last one that was kept. After a crash both are there or neither.

        `snapshots` are models taken since then, by how many rows there were; they count with the state, too.
        """
        with self.working():
            self._not_finished()
            before = self._mark or _checkpoint.mark_of(self.folder / CHECKPOINT, self.key)
            lines = _metrics.to_lines(rows)
            after = before.after(lines)
            content = _checkpoint.to_bytes(state, after, self.key)
            # Known without reading it back, but only if all of what follows goes well.
            self._mark = None
            # First rows and snapshots, then the checkpoint that counts them:
            # what no checkpoint counts is cut off here later.
            if snapshots:
                kept = {**self.snapshots(), **snapshots}
                write_whole(self.folder / SNAPSHOTS, _snapshots.to_bytes(kept, self.key))
            write_at(self.folder / LINES, before.size, lines)
            write_whole(self.folder / CHECKPOINT, content)
            self._mark = after

    def finish(
        self,
        model: eqx.Module,
        result: dict[str, Any],
        trackers: Sequence[Tracker] = (),
        *,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """Keep what came out. The run is finished from the moment at which the result is on disk, its last file.

        `beside` are further files by name, which belong to the run and are deleted with it; a name ends in
        .safetensors, .json or .parquet.
        """
        for name in beside or {}:
            _check_name("beside", name)
        with self.working():
            self._not_finished()
            contents = {**(beside or {}), **_packed(self._rows()), MODEL: to_bytes(model)}
            if kept := self.snapshots():
                contents[SNAPSHOTS] = _snapshots.to_bytes(kept, self.key)
            for name, content in contents.items():
                write_whole(self.folder / name, content)
            files = {name: digest(content) for name, content in contents.items()}
            write_page(self.folder / RESULT, {"key": self.key, "result": result, "files": files})
            self._tidy()
        for tracker in trackers:
            tracker.finish(result)

    def tidy(self) -> None:
        """Remove what a process killed at the very end left behind; not more than a nicety, so it never fails."""
        if self.finished and self._left():
            with suppress(OSError), self.working():
                pass

    def restart(self) -> None:
        """Delete what was computed. The config stays, and so does everything in the folder that no run wrote.

        A file with a name of its own is deleted only if it is there as the run wrote it.
        """
        with self.working():
            try:
                outcome = self._outcome()
                beside = [name for name in self.files if self._as_written(name, outcome)]
            except ValueError:
                beside = []
            # In this order the folder holds a whole run at every moment.
            for path in self._files(RESULT, CHECKPOINT, LINES, SNAPSHOTS, PARQUET, MODEL, *beside):
                remove(path)

    def delete(self) -> None:
        """Delete the files of the run, and its folder unless that holds anything else."""
        with self.working():
            self.restart()
            for path in self._files(CONFIG, LOCK):
                remove(path)
            with suppress(OSError):
                self.folder.rmdir()

    def _tidy(self) -> None:
        for name in (CONFIG, LINES, SNAPSHOTS, CHECKPOINT, PARQUET, MODEL, RESULT):
            # The eight letters of a temporary file, and not a user's .config.json.old.
            for path in self.folder.glob(f".{name}.{'[a-z0-9_]' * 8}"):
                remove(path)
        # The state is given up only for a result that is whole, and this run's.
        if self.finished and self._left() and self.trouble() is None:
            for path in self._left():
                remove(path)

    def _left(self) -> list[Path]:
        """What a finished run has no more need of."""
        try:
            kept = self.files
        except ValueError:  # a result that can't be read needs all there is
            return []
        return [path for path in self._files(LINES, CHECKPOINT) if path.exists() and path.name not in kept]

    def _told(self) -> list[dict[str, Any]] | None:
        """All rows so far, from lines; None if they are in a Parquet file."""
        if not self.finished:
            try:
                rows = self._rows()
            except FileNotFoundError:
                rows = None
            # The run may have been finished, and tidied up, while we read.
            if not self.finished:
                if rows is None:
                    raise ValueError(f"{self.folder / LINES} is missing; {REMEDY}.")
                return rows
        return _metrics.lines_of(self.file(LINES).read_bytes()) if LINES in self.files else None

    def _check_rows(self) -> None:
        """A `ValueError` unless the rows are there as they were written."""
        if self._told() is None:
            self.file(PARQUET)

    def _rows(self) -> list[dict[str, Any]]:
        return _metrics.read_lines(self.folder / LINES, _checkpoint.mark_of(self.folder / CHECKPOINT, self.key))

    def _outcome(self) -> dict[str, Any] | None:
        path = self.folder / RESULT
        try:
            outcome = read_page(path, REMEDY, OUTCOME)
        except FileNotFoundError:
            return None
        try:
            check_owner(outcome["key"], self.key)
            for name in outcome["files"]:
                if name != LINES:
                    _check_name("files", name)
        except ValueError as error:
            raise ValueError(f"{path} can't be read: {error}; {REMEDY}.") from None
        return outcome

    def _as_written(self, name: str, outcome: dict[str, Any] | None) -> bool:
        try:
            return outcome is not None and outcome["files"].get(name) == digest((self.folder / name).read_bytes())
        except (OSError, ValueError):  # a name that no file can have is a ValueError
            return False

    def _files(self, *names: str) -> list[Path]:
        return [self.folder / name for name in names]

    def _not_finished(self) -> None:
        if self.finished:
            raise ValueError(f"the run {self.name} is finished; read its result, or delete it to do it again.")


def _packed(rows: list[dict[str, Any]]) -> dict[str, bytes]:
    """The file in which a finished run keeps its rows, by its name."""
    if not installed("pyarrow"):
        return {LINES: _metrics.to_lines(rows)}
    from . import _tables  # noqa: PLC0415  (an extra)

    return {PARQUET: _tables.to_parquet(_tables.to_table(rows))}


def _check_name(argument: str, name: str) -> None:
    """Only files of a run come with it: what else is in its folder, or elsewhere, is never its to delete."""
    taken = name in (CONFIG, RESULT, CHECKPOINT)
    if taken or name.startswith(".") or Path(name).name != name or Path(name).suffix not in SUFFIXES:
        raise ValueError(
            f"{argument} has the name {name!r}; expected the name of a file of its own, without a folder, that ends in "
            f"{', '.join(SUFFIXES)}"
        )


def begin(folder: Path, key: str, code: str, config: dict[str, Any], environment: dict[str, Any]) -> None:
    """Write the first file of a run."""
    head = {"format": FORMAT, "key": key, "code": code, "config": config, "environment": environment}
    write_page(folder / CONFIG, head)
