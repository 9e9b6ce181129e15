"""All runs below one folder: found by what was asked for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._disk import explained
from .._lock import NAME as LOCK, locked
from .._plain import plain
from ._environment import changes, environment
from ._key import LENGTH, code_version, differences, run_key
from ._run import CONFIG, Run, begin

VARIABLE = "DESCANT_RUNS"


def default_root() -> Path:
    """The folder named by the environment variable DESCANT_RUNS, else `runs` below the present one."""
    return Path(os.environ.get(VARIABLE) or "runs")


@dataclass(frozen=True)
class Broken:
    """A folder among the runs that is none, or a broken one."""

    folder: Path
    reason: str


class Store:
    """The runs in a folder, each in a folder of its own.

    `code` is the version of the code that computes; None means this package's own source. Who trains with code of his
    own names its version here, because a run made by other code is another run.
    """

    root: Path

    def __init__(self, root: str | Path | None = None, *, code: str | None = None):
        self.root = default_root() if root is None else Path(root)
        self._code = code

    @property
    def code(self) -> str:
        """The version of the code, part of every key."""
        return code_version() if self._code is None else self._code

    def key(self, config: dict[str, Any]) -> str:
        """The name of a config's folder, unless another is asked for."""
        return run_key(config, self.code)

    def find(self, config: dict[str, Any]) -> Run | None:
        """The run of a config, whatever its folder is called; a finished one rather than another."""
        key = self.key(config)
        found = None
        for run in self._candidates(key):
            if run.key == key and (found is None or run.finished):
                found = run
                if found.finished:
                    break
        return found

    def open(self, config: dict[str, Any], folder: str | Path | None = None) -> Run:
        """The run of a config: the one found, or a new one, in the given folder or in one named by its key.

        A `ValueError` if it is finished, and its files are not as they were written.
        """
        key = self.key(config)
        if folder is None:
            found = self.find(config)
            path = self.root / key if found is None else found.folder
        else:
            path = Path(folder)
        if not (path / CONFIG).exists():
            self._begin(path, config)
        run = Run(path)
        if run.key != key:
            raise ValueError(self._other(run, config))
        if run.finished:
            run.check()
            run.tidy()
            return run
        return self._in_this_environment(run)

    def runs(self) -> list[Run]:
        """All runs, by name. Folders that are no runs are left out; `broken` lists them."""
        return [found for found in self._scan() if isinstance(found, Run)]

    def broken(self) -> list[Broken]:
        """The folders that are no runs, or broken ones, and why."""
        found = []
        for item in self._scan():
            if isinstance(item, Broken):
                found.append(item)
            elif (reason := item.trouble()) is not None:
                found.append(Broken(item.folder, reason))
        return found

    def get(self, name: str) -> Run:
        """The run of a name, or of the beginning of one, if only one begins so."""
        runs = self.runs()
        fitting = [run for run in runs if run.name == name] or [run for run in runs if run.name.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = ", ".join(run.name for run in fitting)
            raise ValueError(f"name is {name!r}, the beginning of {names}; expected the name of one run: add letters.")
        raise ValueError(f"name is {name!r}; {self.root} has no run of that name: `descant runs` lists them.")

    def delete(self, run: Run) -> None:
        """Delete a run that nobody is working on; files in its folder that no run wrote stay there."""
        run.delete()

    def _candidates(self, key: str) -> Iterator[Run]:
        """The folder of that name first: with luck no other needs to be read."""
        first = _read(self.root / key)
        if isinstance(first, Run):
            yield first
        yield from self.runs()

    def _scan(self) -> Iterator[Run | Broken]:
        try:
            paths = sorted(self.root.iterdir())
        except FileNotFoundError:
            return
        except OSError as error:
            raise ValueError(
                f"root is {self.root}, which can't be read: {error.strerror}; expected a folder: choose another."
            ) from None
        for path in paths:
            found = None if path.name.startswith(".") else _read(path)
            if found is not None:
                yield found

    def _begin(self, path: Path, config: dict[str, Any]) -> None:
        """Make the folder and write the config; if another process does the same just now, its word stands."""
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
            others = [name for name in sorted(os.listdir(path)) if name != LOCK and not name.startswith(f".{CONFIG}.")]
        if others and CONFIG not in others:
            raise ValueError(
                f"folder is {path}, which holds {others[0]!r} but no run; expected a new or an empty folder, or one "
                "with a run: choose another."
            )
        with locked(path):
            if not (path / CONFIG).exists():
                begin(path, self.key(config), self.code, plain("config", config), environment())

    def _other(self, run: Run, config: dict[str, Any]) -> str:
        what = differences(run.config, config)
        if not what:
            what = f"the code is {run.code[:LENGTH]} there and {self.code[:LENGTH]} here"
        return f"{run.folder} holds another run: {what}; choose another folder, or delete that one and start again."

    def _in_this_environment(self, run: Run) -> Run:
        """A run under way goes on only where it ends in the bits it would have ended in."""
        now = environment()
        changed = changes(run.environment, now)
        if not changed:
            return run
        with run.working():
            if run.checkpoint() is not None:
                raise ValueError(
                    f"{run.folder} was begun under {', '.join(changed)}, so it can't be continued bit for bit; go back "
                    "to what it was begun under, or delete it and start again."
                )
            begin(run.folder, run.key, run.code, run.config, now)
        return Run(run.folder)


def _read(path: Path) -> Run | Broken | None:
    """The run in a folder; None for what is no folder."""
    try:
        return Run(path) if path.is_dir() else None
    except FileNotFoundError:
        return Broken(path, f"{path / CONFIG} does not exist")
    except (ValueError, OSError) as error:
        return Broken(path, str(error))
