"""Runs whose process is killed: at random moments, and before every single operation on the disk.

DESCANT_TEST_KILLS=100 kills a hundred processes at random moments instead of eight.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors

from descant.runs import Run
from tests.support import runs_worker
from tests.support.run_folders import OUTCOME, contents, finished
from tests.support.runs_worker import Toy

KILLS = int(os.environ.get("DESCANT_TEST_KILLS") or 8)


class Reader:
    """Reads everything below a folder all the time, in a thread; remembers what it could not read."""

    def __init__(self, root: Path):
        self.root, self.torn, self.reads, self.kinds = root, [], 0, set()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def _look(self):
        while not self.over.is_set():
            for path in list(self.root.rglob("[!.]*")):
                try:
                    self._read(path)
                    self.reads += 1
                    self.kinds.add(path.name)
                except FileNotFoundError:
                    pass
                except Exception as error:  # anything else is what this is here for
                    self.torn.append(f"{path}: {error!r}")

    def _read(self, path: Path) -> None:
        if path.is_dir():
            if (path / "config.json").exists():
                steps = [row["step"] for row in Run(path).metrics().to_pylist() if row.get("loss") is not None]
                assert steps == list(range(1, len(steps) + 1)), f"steps {steps}"
            return
        data = path.read_bytes()
        if path.suffix == ".json":
            json.loads(data)
            if path.name == "result.json":
                assert all((path.parent / name).exists() for name in OUTCOME), "finished, but not all is there"
        elif path.suffix == ".safetensors":
            safetensors.deserialize(data)
        elif path.suffix == ".parquet":
            pq.read_table(pa.BufferReader(data))
        elif path.suffix == ".jsonl":
            for line in data.split(b"\n")[:-1]:  # what follows the last line break is being written
                json.loads(line)


def worker(*arguments: object) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", runs_worker.__file__, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def test_killed_at_random_moments(tmp_path, draw):
    whole = finished(tmp_path / "whole", Toy(40))
    place = tmp_path / "killed"
    place.mkdir()
    with Reader(place) as reader:
        statuses = worker(place, 40, "kills", KILLS, draw.randrange(2**31))
    assert not reader.torn, reader.torn[:3]
    assert statuses.count(-signal.SIGKILL) == KILLS
    assert {"checkpoint.safetensors", "metrics.jsonl"} <= reader.kinds
    folders = [path for path in place.iterdir() if path.is_dir()]
    assert len(folders) >= 2
    for folder in folders:
        assert contents(folder) == whole


@pytest.mark.slow
def test_killed_before_every_operation_on_the_disk(tmp_path, monkeypatch):
    """Making the folder, checkpointing, finishing, tidying up: each step of each is the last of some process."""
    monkeypatch.setenv(runs_worker.SNAPSHOTS, "1")
    runs_worker.complete(tmp_path / "whole", Toy(2), every=1e9)
    whole = contents(tmp_path / "whole")
    assert sorted(whole) == sorted((*OUTCOME, "snapshots.safetensors"))
    place = tmp_path / "killed"
    place.mkdir()
    with Reader(place) as reader:
        statuses = worker(place, 2, "operations")
    assert not reader.torn, reader.torn[:3]
    assert set(statuses[:-1]) == {-signal.SIGKILL} and statuses[-1] == 0 and len(statuses) > 40
    folders = [path for path in place.iterdir() if path.is_dir()]
    assert len(folders) == len(statuses)
    for folder in folders:
        assert contents(folder) == whole
