"""Runs on disk: whole at every moment, found again, continued bit for bit.

DESCANT_TEST_KILLS=100 kills a hundred processes at random moments instead of eight.
"""

import contextlib
import errno
import io
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors

from descant.attention import LSA
from descant.cli import main
from descant.runs import MemoryTracker, Run, Store, _checkpoint, drive, environment, query, run_key, tracker
from descant.training._protocol import State

from . import runs_worker
from .runs_worker import CODE, Toy, complete

OUTCOME = ("config.json", "metrics.parquet", "model.safetensors", "result.json")
KILLS = int(os.environ.get("DESCANT_TEST_KILLS") or 8)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def finished(folder: Path, toy: Toy) -> dict[str, bytes]:
    """What an undisturbed run leaves: these files and no others."""
    complete(folder, toy, every=1e9)
    found = contents(folder)
    assert sorted(found) == sorted(OUTCOME)
    return found


def opened(folder: Path, toy: Toy) -> Run:
    return Store(folder.parent, code=CODE).open(toy.config(), folder)


def risk_of(folder: Path) -> float:
    result = Run(folder).result
    assert result is not None
    return result["risk"]


@pytest.fixture
def draw() -> random.Random:
    seed = int(os.environ.get("DESCANT_TEST_SEED") or random.randrange(2**31))
    print(f"replay with DESCANT_TEST_SEED={seed}")
    return random.Random(seed)


# What a finished run holds


def test_a_finished_run(tmp_path):
    toy = Toy(12)
    whole = finished(tmp_path / "a", toy)
    run = opened(tmp_path / "a", toy)
    assert run.finished and run.state == "finished" and run.config == toy.config()
    state = toy.init()
    rows = []
    while not toy.finished(state):
        state, more = toy.advance(state)
        rows += more
    assert run.result == toy.result(state)
    assert eqx.tree_equal(run.model(), toy.model(state))
    table = run.metrics()
    assert table.column_names == ["step", "loss", "sum", "event", "bad"] and table.num_rows == len(rows) == 14
    for row, expected in zip(table.to_pylist(), rows, strict=True):
        for name in row:
            assert str(row[name]) == str(expected.get(name))  # text: NaN is not equal to itself
    head = json.loads(whole["config.json"])
    assert head["config"] == toy.config() and head["key"] == run.key == run_key(toy.config(), CODE)
    assert set(head["environment"]) == {
        "descant", "jax", "jaxlib", "equinox", "numpy", "optax", "scipy", "python", "device", "precision",
    }  # fmt: skip
    assert head["environment"]["precision"].startswith("float64")
    with pytest.raises(ValueError, match="is finished; read its result, or delete it"):
        run.save(state)
    with pytest.raises(ValueError, match="is finished"):
        run.finish(toy.model(state), {})
    with pytest.raises(ValueError, match="is finished"):
        drive(toy, run)


def test_no_rows_and_no_steps(tmp_path):
    toy = Toy(0)
    finished(tmp_path / "a", toy)
    run = opened(tmp_path / "a", toy)
    assert run.metrics().num_rows == 0 and run.result == {"risk": 0.0, "standard_error": 0.0, "steps": 0}


def test_an_unfinished_run_can_be_read(tmp_path):
    toy = Toy(12)
    run = opened(tmp_path / "a", toy)
    assert run.checkpoint() is None and run.result is None and run.metrics().num_rows == 0 and run.state == "stopped"
    with pytest.raises(ValueError, match="not finished and has no model yet"):
        run.model()
    steps = iter(range(6))
    drive(toy, run, stop=lambda: next(steps) == 5)
    assert run.metrics()["step"].to_pylist() == [1, 2, 3, 4, 5, 5]
    state = run.checkpoint()
    assert state is not None and state.info["step"] == 5


def test_a_run_that_is_finished_while_it_is_read(tmp_path, monkeypatch):
    toy = Toy(7)
    run = opened(tmp_path / "a", toy)
    drive(toy, run)
    for at in ("mark_of", None):
        folder = tmp_path / f"{at}"
        shutil.copytree(run.folder, folder)
        reader, mark_of = Run(folder), _checkpoint.mark_of

        def finish_meanwhile(path, folder=folder, before=at is None, mark_of=mark_of):
            mark = mark_of(path) if before else None
            monkeypatch.setattr(_checkpoint, "mark_of", mark_of)
            complete(folder, toy)
            return mark or mark_of(path)

        monkeypatch.setattr(_checkpoint, "mark_of", finish_meanwhile)
        assert not reader.finished and reader.metrics().num_rows == 8 and reader.finished


# Interruptions inside one process


@pytest.mark.parametrize("every", [0.0, 1e9])
def test_the_same_bits_after_stops(tmp_path, draw, every):
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    for attempt in range(5):
        folder = tmp_path / f"{attempt}"
        while not (run := opened(folder, toy)).finished:
            left = draw.randrange(25)

            def stop() -> bool:
                nonlocal left
                left -= 1
                return left < 0

            state = drive(toy, run, stop=stop, every=every)
            if toy.finished(state):
                run.finish(toy.model(state), toy.result(state))
        assert contents(folder) == whole


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_the_last_whole_state_is_kept_when_the_training_breaks_off(tmp_path, draw, error):
    whole = finished(tmp_path / "whole", Toy(30))
    at = draw.randrange(1, 30)

    class Breaks(Toy):
        def advance(self, state):
            if state.info["step"] == at:
                raise error
            return Toy.advance(self, state)

    run = opened(tmp_path / "a", Toy(30))
    with pytest.raises(error):
        drive(Breaks(30), run, every=1e9)
    state = run.checkpoint()
    assert state is not None and state.info["step"] == at
    complete(tmp_path / "a", Toy(30))
    assert contents(tmp_path / "a") == whole


@pytest.mark.parametrize("before", [True, False])
def test_ctrl_c_while_saving(tmp_path, monkeypatch, before):
    """It comes before or after the save, never in its midst, and no row is kept twice."""
    whole = finished(tmp_path / "whole", Toy(30))
    run = opened(tmp_path / "a", Toy(30))
    save, saves = run.save, []

    def interrupted(state, rows):
        saves.append(state)
        if len(saves) == 7 and before:
            signal.raise_signal(signal.SIGINT)
        save(state, rows)
        if len(saves) == 7 and not before:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(run, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        drive(Toy(30), run, every=0.0)
    state = run.checkpoint()
    assert len(saves) == 7 and state is not None and state.info["step"] == 7
    complete(tmp_path / "a", Toy(30))
    assert contents(tmp_path / "a") == whole


def test_checkpoints_are_not_written_all_the_time(tmp_path, monkeypatch):
    run = opened(tmp_path / "a", Toy(200))
    save, saves = run.save, []
    monkeypatch.setattr(run, "save", lambda state, rows: (saves.append(len(rows)), save(state, rows)))
    drive(Toy(200), run)
    assert sum(saves) == 240 and len(saves) <= 3
    assert run.metrics().num_rows == 240


def test_states_come_back_exactly(tmp_path):
    run = Store(tmp_path, code=CODE).open({"a": 1})
    arrays = {
        "z": np.asfortranarray(np.random.default_rng(0).normal(size=(3, 4))),
        "a": np.array(-0.0),
        "m": np.arange(5, dtype=np.int32),
        "e": np.zeros((0, 2), np.float32),
        "b": np.array([True, False]),
        "n": np.array([np.nan, np.inf, 5e-324]),
    }
    info = {"z": 0.1 + 0.2, "a": [1, None, True, "é\u2028"], "i": {"x": math.inf, "big": 2**70}}
    run.save(State(arrays, info))
    back = run.checkpoint()
    assert back is not None
    assert list(back.arrays) == list(arrays) and list(back.info) == list(info) and back.info == info
    for name, array in arrays.items():
        assert back.arrays[name].dtype == array.dtype and back.arrays[name].shape == array.shape
        assert back.arrays[name].tobytes() == array.tobytes()
        assert back.arrays[name].flags.writeable
    for bad in ((1, 2), np.float64(1.0), {1: 2}, {"x": {"y": (1,)}}):
        with pytest.raises(ValueError, match=r"state.info\['k'\].*expected None, bool, int"):
            run.save(State({}, {"k": bad}))
    with pytest.raises(ValueError, match=r"state.arrays can't be saved"):
        run.save(State({"x": np.array(["text"])}))
    again = run.checkpoint()
    assert again is not None and again.info == info


def test_rows_of_any_kind(tmp_path):
    """What has no type in common becomes text; nothing that a training tells can make its end fail."""
    run = Store(tmp_path, code=CODE).open({"a": 1})
    rows = [
        {"step": 1, "loss": jnp.asarray(0.5), "mixed": 1, "deep": {"er": np.float32(0.25)}, "list": [1.0, 2.0]},
        {"step": np.int64(2), "loss": math.inf, "mixed": "a\u2028b\n", "deep": {"er": -math.inf, "x": 1}, "big": 2**70},
        {"step": 3, "new": True, "empty": {}, "none": None},
        {},
    ]
    run.save(State({}), rows)
    while_running = run.metrics()
    run.finish(LSA(jnp.zeros((1, 2)), jnp.zeros((1, 2, 2))), {"risk": math.inf, "x": math.nan})
    assert run.metrics().equals(while_running)
    first, second, third, last = run.metrics().to_pylist()
    assert first["deep_er"] == 0.25 and first["list"] == [1.0, 2.0] and first["mixed"] == "1" and first["loss"] == 0.5
    assert second["mixed"] == "a\u2028b\n" and second["loss"] == math.inf and second["big"] == str(2**70)
    assert third["new"] is True and third["empty"] is None and set(last.values()) == {None}
    result = run.result
    assert result is not None and result["risk"] == math.inf and math.isnan(result["x"])
    json.loads((run.folder / "result.json").read_text(), parse_constant=pytest.fail)
    for bad in ({"x": object()}, {"x": {1: 2}}):
        with pytest.raises(ValueError, match=r"rows.x"):
            Store(tmp_path, code=CODE).open({"a": 2}).save(State({}), [bad])


# Real kills, under the eyes of a reader


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
        statuses = worker(place / "a", 40, "kills", KILLS, draw.randrange(2**31))
    assert not reader.torn, reader.torn[:3]
    assert statuses.count(-signal.SIGKILL) >= min(KILLS, 5)
    assert {"checkpoint.safetensors", "metrics.jsonl"} <= reader.kinds
    assert contents(place / "a") == whole == contents(place / "timed")


def test_killed_before_every_operation_on_the_disk(tmp_path):
    """Making the folder, checkpointing, finishing, tidying up: each step of each is the last of some process."""
    whole = finished(tmp_path / "whole", Toy(2))
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


# Finding runs again


def test_finished_runs_are_found(tmp_path):
    store = Store(tmp_path, code=CODE)
    toy = Toy(3)
    assert store.find(toy.config()) is None
    run = store.open(toy.config())
    assert run.folder == tmp_path / store.key(toy.config()) and len(run.name) == 16
    found = store.find(dict(reversed(toy.config().items())))
    assert found is not None and found.folder == run.folder and not found.finished
    complete(tmp_path / "by-name", toy)
    found = store.find(toy.config())  # the finished one of two
    assert found is not None and found.name == "by-name" and store.open(toy.config()).finished
    assert store.find({**toy.config(), "rate": 3.8}) is None
    assert Store(tmp_path, code="other").find(toy.config()) is None
    assert [run.name for run in store.runs()] == sorted([run.name, "by-name"]) and store.problems() == []
    assert store.get("by-n").name == "by-name"
    with pytest.raises(ValueError, match="has no run of that name"):
        store.get("nobody")
    with pytest.raises(ValueError, match=r"the beginning of by-name, .*; expected the name of one run"):
        store.get("")


def test_the_key_holds_the_source_of_the_package(tmp_path):
    config = {"d": 5}
    store = Store(tmp_path)
    assert store.key(config) == run_key(config, store.code) and len(store.code) == 16
    assert store.key(config) != Store(tmp_path, code="other").key(config)


def test_the_root(tmp_path, monkeypatch):
    monkeypatch.delenv("DESCANT_RUNS", raising=False)
    assert Store().root == Path("runs")
    monkeypatch.setenv("DESCANT_RUNS", str(tmp_path / "there"))
    assert Store().root == tmp_path / "there"
    assert Store().runs() == [] and Store().problems() == []


def test_another_config_in_the_folder(tmp_path):
    complete(tmp_path / "a", Toy(3))
    before = contents(tmp_path / "a")
    with pytest.raises(
        ValueError, match=r"another run: steps is 3 there and 4 here, task.d is 3 there and 2 here; choose"
    ):
        opened(tmp_path / "a", Toy(4, size=2))
    with pytest.raises(ValueError, match=r"the code is toy there and other here"):
        Store(tmp_path, code="other").open(Toy(3).config(), tmp_path / "a")
    with pytest.raises(
        ValueError, match=r'model is "toy" there and "x" here, task.d is 3 there and absent here, .* 2 more differ'
    ):
        Store(tmp_path, code=CODE).open({"extra": 1, "model": "x", "task": {}, "steps": 3, "rate": 3.9}, tmp_path / "a")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(ValueError, match=r"holds 'thesis.tex' but no run; expected a new or an empty folder"):
        opened(tmp_path / "mine", Toy(3))
    with pytest.raises(ValueError, match=r"config.x is .*object.*which JSON can't hold"):
        Store(tmp_path, code=CODE).open({"x": object()})
    assert contents(tmp_path / "a") == before and os.listdir(tmp_path / "mine") == ["thesis.tex"]


def test_a_changed_environment(tmp_path, monkeypatch):
    """A run begun elsewhere isn't continued, because it would end in other bits; one without a state is begun anew."""
    toy = Toy(5)
    opened(tmp_path / "new", toy)
    steps = iter(range(3))
    drive(toy, opened(tmp_path / "under-way", toy), stop=lambda: next(steps) == 2)
    complete(tmp_path / "done", toy)
    other = {**environment(), "jax": "9.9", "python": "4.0"}
    monkeypatch.setattr("descant.runs._store.environment", lambda: other)
    assert opened(tmp_path / "new", toy).environment == other
    with pytest.raises(ValueError, match=r"begun under jax .* then, 9.9 now, so it can't be continued bit for bit"):
        opened(tmp_path / "under-way", toy)
    assert opened(tmp_path / "done", toy).finished


# The lock


HOLD = "import fcntl,sys,time; f=open(sys.argv[1],'a'); fcntl.flock(f,fcntl.LOCK_EX); print('.',flush=True); time.sleep(60)"


@contextlib.contextmanager
def another_process_on(folder: Path):
    with subprocess.Popen([sys.executable, "-c", HOLD, folder / ".lock"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(1)
        yield
        process.kill()


def test_one_process_at_a_time(tmp_path):
    toy = Toy(3)
    run = opened(tmp_path / "a", toy)
    with another_process_on(run.folder):
        assert run.state == "running"
        for work in (lambda: drive(toy, run), lambda: run.save(toy.init()), lambda: Store(tmp_path).delete(run)):
            with pytest.raises(BlockingIOError, match="another process is working on this run"):
                work()
        assert opened(run.folder, toy).metrics().num_rows == 0  # reading is always possible
    assert run.state == "stopped"
    with run.working(), pytest.raises(BlockingIOError):
        drive(toy, opened(run.folder, toy))
    complete(run.folder, toy)


def test_looking_does_not_get_in_the_way(tmp_path):
    """Whether a run is busy is found out with the lock itself; a training that starts meanwhile waits a moment."""
    run = opened(tmp_path / "a", Toy(3))
    over = threading.Event()

    def look():
        while not over.is_set():
            assert run.state in ("stopped", "running")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(200):
            with run.working():
                pass
    finally:
        over.set()
        thread.join()


# Disks that are full, folders that are read-only


@contextlib.contextmanager
def files_limited_to(size: int):
    """The kernel refuses to let any file of this process grow beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def under_way(folder: Path, toy: Toy, step: int) -> Run:
    run = opened(folder, toy)
    drive(
        toy, run, stop=lambda: False if run.checkpoint() is None else run.checkpoint().info["step"] >= step, every=0.0
    )
    return run


@pytest.mark.parametrize("size", [0, 100, 1000, 2000])
def test_no_room_while_training(tmp_path, size):
    """Whichever file it is that no longer fits, nothing saved is lost, and it goes on when there is room."""
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = under_way(tmp_path / "a", toy, 4)
    with (
        files_limited_to(size),
        pytest.raises(OSError, match=r"can't be written: File too large; .* make room, then") as said,
    ):
        drive(toy, run, every=0.0)
    assert said.value.errno == errno.EFBIG and str(run.folder) in str(said.value) and "Errno" not in str(said.value)
    state = run.checkpoint()
    assert state is not None and state.info["step"] >= 4
    assert run.metrics()["step"].to_pylist()[-1] == state.info["step"]
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_no_room_for_the_outcome(tmp_path):
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = opened(tmp_path / "a", toy)
    state = drive(toy, run)
    for size in (0, 300, 2000):
        with files_limited_to(size), pytest.raises(OSError, match="make room"):
            run.finish(toy.model(state), toy.result(state))
        assert not run.finished and run.metrics().num_rows == 72
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_no_room_to_begin(tmp_path):
    with files_limited_to(10), pytest.raises(OSError, match=r"config.json can't be written: File too large"):
        opened(tmp_path / "a", Toy(3))
    complete(tmp_path / "a", Toy(3))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB of its own. Only root may mount one; the limits on files above are tested everywhere."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a disk can't be mounted here; full disks are tested with limits on files instead")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(tmp_path, small_disk):
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = under_way(small_disk / "a", toy, 4)
    fill = small_disk / "fill"
    with fill.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(512))
    before = contents(run.folder)
    with pytest.raises(OSError, match=r"No space left on device; .* make room") as said:
        drive(toy, run, every=0.0)
    assert said.value.errno == errno.ENOSPC
    after = contents(run.folder)
    assert after["checkpoint.safetensors"] == before["checkpoint.safetensors"] and sorted(after) == sorted(before)
    fill.unlink()
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_a_read_only_folder(small_disk):
    toy = Toy(30)
    run = under_way(small_disk / "a", toy, 4)
    before = contents(run.folder)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for work in (lambda: drive(toy, run), lambda: run.save(toy.init()), lambda: opened(small_disk / "b", toy)):
        with pytest.raises(OSError, match=r"can't be written: Read-only file system; .* choose another folder") as said:
            work()
        assert said.value.errno == errno.EROFS and "Errno" not in str(said.value)
    assert contents(run.folder) == before and run.metrics().num_rows > 0
    assert query("SELECT count(*) AS rows FROM metrics", small_disk).to_pylist()[0]["rows"] == run.metrics().num_rows
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; for root there is the test above")
def test_a_folder_that_may_not_be_written(tmp_path):
    toy = Toy(30)
    run = under_way(tmp_path / "a", toy, 4)
    run.folder.chmod(0o555)
    with pytest.raises(OSError, match=r"can't be written: Permission denied; .* choose another folder"):
        drive(toy, run)
    run.folder.chmod(0o755)
    assert run.metrics().num_rows > 0


def test_a_folder_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="a part of that path is a file; expected folders only"):
        Store(tmp_path / "file", code=CODE).open({"a": 1})
    with pytest.raises(OSError, match="a part of that path is a file"):
        Store(tmp_path, code=CODE).open({"a": 1}, tmp_path / "file")


# SQL


@pytest.fixture
def some_runs(tmp_path) -> Path:
    """Two finished runs, one under way, and things that are no runs."""
    root = tmp_path / "runs"
    complete(root / "three", Toy(3))
    complete(root / "six", Toy(6, size=2))
    under_way(root / "half", Toy(9), 5)
    (root / "foreign").mkdir()
    (root / "foreign" / "notes.txt").write_text("mine")
    (root / "torn").mkdir()
    (root / "torn" / "config.json").write_text('{"format": "descant-run-1", "conf')
    (root / "lost").mkdir()
    (root / "lost" / "config.json").write_text((root / "three" / "config.json").read_text())
    (root / "lost" / "result.json").write_text("[]")
    (root / "README.md").write_text("mine")
    return root


def test_queries(some_runs, monkeypatch):
    runs = query("SELECT name, finished, state, steps, task_d, risk FROM runs ORDER BY name", some_runs).to_pylist()
    assert [(run["name"], run["finished"], run["state"], run["steps"], run["task_d"]) for run in runs] == [
        ("half", False, "stopped", 9, 3),
        ("six", True, "finished", 6, 2),
        ("three", True, "finished", 3, 3),
    ]
    assert [run["risk"] for run in runs] == [None, *(risk_of(some_runs / name) for name in ("six", "three"))]
    rows = query("SELECT run, count(*) AS rows, max(step) AS last FROM metrics GROUP BY run ORDER BY run", some_runs)
    assert rows.to_pylist() == [
        {"run": "half", "rows": 6, "last": 5},
        {"run": "six", "rows": 7, "last": 6},
        {"run": "three", "rows": 3, "last": 3},
    ]
    joined = query("SELECT avg(loss) AS loss FROM metrics JOIN runs ON run = name WHERE NOT finished", some_runs)
    assert joined.to_pylist()[0]["loss"] == pytest.approx(
        np.nanmean(Run(some_runs / "half").metrics()["loss"].to_numpy()[:5])
    )
    device = query("SELECT DISTINCT environment_device AS device FROM runs", some_runs).to_pylist()
    assert device == [{"device": environment()["device"]}]
    monkeypatch.setenv("DESCANT_RUNS", str(some_runs))
    assert query("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 3}]
    for sql in ("SELECT nothing FROM runs", "SELEC", "SELECT * FROM runs_worker", "SELECT * FROM some_runs"):
        with pytest.raises(ValueError, match="sql can't be answered: "):
            query(sql)


def test_columns_of_many_kinds(tmp_path):
    store = Store(tmp_path, code=CODE)
    model = LSA(jnp.zeros((1, 2)), jnp.zeros((1, 2, 2)))
    kinds = [({"risk": 1, "name": "x"}, {"step": 1, "v": 1}), ({"risk": "a"}, {"step": 2, "v": "text", "run": 5})]
    kinds += [({"risk": [1, 2]}, {"step": 3.5, "v": [1]}), ({}, {"w": True})]
    for config, row in kinds:
        run = store.open({"c": config, **config})
        run.save(State({}), [row])
        run.finish(model, {"risk": 0.5, "steps": math.inf})
    rows = query("SELECT * FROM runs", tmp_path).to_pylist()
    assert {row["risk"] for row in rows} == {"1", "a", "[1,2]", None}
    assert {row["result_risk"] for row in rows} == {0.5} and {row["steps"] for row in rows} == {math.inf}
    assert {row["config_name"] for row in rows} == {"x", None} and {row["c_risk"] for row in rows} == {
        "1",
        "a",
        "[1,2]",
        None,
    }
    rows = query("SELECT * FROM metrics", tmp_path).to_pylist()
    assert {row["v"] for row in rows} == {"1", "text", "[1]", None}
    assert {row["step"] for row in rows} == {1.0, 2.0, 3.5, None} and {row["run_"] for row in rows} == {5, None}
    assert query("SELECT * FROM metrics", tmp_path / "nothing").num_rows == 0
    # A whole number that float64 can't hold stays as it is.
    for number in (2**60 + 1, 0.5):
        store.open({"c": number}).save(State({}), [{"step": number, "v": 1}])
    assert str(2**60 + 1) in {row["step"] for row in query("SELECT step FROM metrics", tmp_path).to_pylist()}


def test_problems_are_listed(some_runs):
    problems = {problem.folder.name: problem.reason for problem in Store(some_runs).problems()}
    assert set(problems) == {"foreign", "torn", "lost"}
    assert "config.json does not exist" in problems["foreign"] and "can't be read as JSON" in problems["torn"]
    assert "result.json is not a JSON object" in problems["lost"]
    for name, damage in (("metrics.jsonl", b"{"), ("checkpoint.safetensors", b"short")):
        path = some_runs / "half" / name
        whole = path.read_bytes()
        path.write_bytes(damage)
        problems = {problem.folder.name: problem.reason for problem in Store(some_runs).problems()}
        assert name in problems["half"]
        query("SELECT * FROM runs, metrics", some_runs)
        with pytest.raises(ValueError, match="delete the run and start it again"):
            complete(some_runs / "half", Toy(9))
        path.write_bytes(whole)
    (some_runs / "three" / "metrics.parquet").write_bytes(b"PAR1")
    assert "three" in {problem.folder.name for problem in Store(some_runs).problems()}
    assert query("SELECT DISTINCT run FROM metrics ORDER BY run", some_runs).to_pylist() == [
        {"run": "half"},
        {"run": "six"},
    ]


# Trackers


def test_trackers_see_each_row_once(tmp_path):
    toy, memory, seen = Toy(12), MemoryTracker(), []
    run = opened(tmp_path / "a", toy)
    steps = iter(range(5))
    drive(toy, run, trackers=[memory], on_rows=seen.extend, stop=lambda: next(steps) == 4)
    assert len(memory.rows) == 4
    state = drive(toy, run, trackers=[memory], on_rows=seen.extend, every=0.0)
    run.finish(toy.model(state), toy.result(state), trackers=[memory])
    assert memory.started == [("a", toy.config())] * 2 and memory.result == run.result
    assert [row["step"] for row in memory.rows] == run.metrics()["step"].to_pylist() and memory.rows == seen


def test_a_tracker_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(
        ImportError, match=r"'wandb' needs the package wandb, which is not installed: pip install wandb"
    ):
        tracker("wandb")
    with pytest.raises(ValueError, match="tracker is 'paper'; expected one of: trackio, wandb"):
        tracker("paper")


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_tracker_by_name(monkeypatch, tmp_path, name):
    """Against a module with the functions that both have; neither package is needed."""
    calls = []
    module = types.ModuleType(name)
    for function in ("init", "log", "finish"):
        monkeypatch.setattr(module, function, lambda *a, at=function, **k: calls.append((at, a, k)), raising=False)
    monkeypatch.setitem(sys.modules, name, module)
    toy = Toy(2)
    run = opened(tmp_path / "a", toy)
    found = tracker(name, project="mine")
    state = drive(toy, run, trackers=[found])
    run.finish(toy.model(state), toy.result(state), trackers=[found])
    assert [call[0] for call in calls] == ["init", "log", "log", "log", "finish"]
    start = {"project": "mine", "name": "a", "config": toy.config(), "resume": "allow"}
    assert calls[0][2] == ({**start, "id": "a"} if name == "wandb" else start)
    assert calls[1][1][0]["step"] == 1 and calls[3][1][0] == run.result


# The command line


def command(*arguments: object, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["runs", *map(str, arguments)])
    output = capsys.readouterr()
    return int(stop.value.code or 0), output.out, output.err


def test_the_list(some_runs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    status, out, err = command("--root", some_runs, capsys=capsys)
    assert status == 0 and err == ""
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    for word in ("six", "toy", "d=2 n=7", "finished", "exact", f"{risk_of(some_runs / 'six'):.6g}"):
        assert word in lines["six"]
    assert "stopped" in lines["half"] and out.count("Not a run: ") == 3
    status, out, _ = command("--root", some_runs, "--json", capsys=capsys)
    listed = {run["name"]: run for run in json.loads(out)}
    assert set(listed) == {"half", "six", "three"} and listed["half"]["result"] is None
    assert listed["six"]["config"] == Toy(6, size=2).config() and abs(listed["six"]["updated"] - time.time()) < 600
    with another_process_on(some_runs / "half"):
        assert "running" in command("--root", some_runs, capsys=capsys)[1]
    monkeypatch.setenv("DESCANT_RUNS", str(some_runs / "nothing"))
    assert "There are no runs in" in command(capsys=capsys)[1]
    assert json.loads(command("--json", capsys=capsys)[1]) == []


def test_comparing(some_runs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    status, out, _ = command("compare", "three", "si", "--root", some_runs, capsys=capsys)
    assert status == 0 and "task.d" in out and "risk" in out and "rate" not in out and "task.n" not in out
    status, out, _ = command("compare", "three", "six", "half", "--root", some_runs, "--json", capsys=capsys)
    found = json.loads(out)
    assert found["config"] == {"steps": {"three": 3, "six": 6, "half": 9}, "task.d": {"three": 3, "six": 2, "half": 3}}
    assert found["result"]["steps"] == {"three": 3, "six": 6, "half": None}


def test_deleting(some_runs, capsys, monkeypatch):
    root = ("--root", some_runs)
    with another_process_on(some_runs / "half"):
        status, _, err = command("delete", "six", "half", "--yes", *root, capsys=capsys)
        assert status == 2 and "another process is working on the run half" in err
    monkeypatch.setattr("sys.stdin", io.StringIO())
    status, _, err = command("delete", "six", *root, capsys=capsys)
    assert status == 2 and "expected --yes. Nothing was deleted." in err
    for name in ("foreign", "../runs/six", "si"):
        status, _, err = command("delete", name, "--yes", *root, capsys=capsys)
        assert status == 2 and "has no run of that name" in err
    assert (some_runs / "six" / "result.json").exists()
    status, out, _ = command("delete", "six", "half", "--yes", *root, capsys=capsys)
    assert status == 0 and out == "Deleted six.\nDeleted half.\n"
    assert sorted(os.listdir(some_runs)) == ["README.md", "foreign", "lost", "three", "torn"]


def test_deleting_asks_on_a_terminal(some_runs, capsys, monkeypatch):
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    answers = iter(["", "yes"])
    monkeypatch.setattr("builtins.input", lambda question: (print(question), next(answers))[1])
    status, out, _ = command("delete", "six", "--root", some_runs, capsys=capsys)
    assert status == 0 and "Delete six in " in out and "Nothing was deleted." in out and (some_runs / "six").exists()
    status, out, _ = command("delete", "six", "--root", some_runs, capsys=capsys)
    assert status == 0 and "Deleted six." in out and not (some_runs / "six").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("compare", "three"), "names is 'three'; expected the names of two or more runs."),
        (("compare", "three", "nobody"), "name is 'nobody'"),
        (("delete",), "names is empty"),
        (("delete", "nobody"), "name is 'nobody'"),
        (("fly",), "fly"),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(some_runs, arguments, sentence, capsys):
    status, out, err = command(*arguments, "--root", some_runs, capsys=capsys)
    assert status == 2 and sentence in err and out == "" and err.count("\n") == 1


def test_help_does_not_import_jax():
    code = (
        "import sys\nfrom descant.cli import main\n"
        "try: main(['runs', '--help'])\nexcept SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = [m for m in ('jax', 'numpy', 'pyarrow', 'duckdb') if m in sys.modules]\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "compare" in done.stdout and "delete" in done.stdout, done.stderr
