"""Runs are found again, and kept by one process at a time."""

import contextlib
import os
import threading
from pathlib import Path

import pytest

from descant.cli._train import _restart
from descant.runs import Run, Store, _run, drive, environment, run_key
from tests.support.run_folders import another_process_on, contents, finished, opened, under_way
from tests.support.runs_worker import CODE, Toy, complete


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
    assert [run.name for run in store.runs()] == sorted([run.name, "by-name"]) and store.broken() == []
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
    assert Store().runs() == [] and Store().broken() == []


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


# Deleting


def test_only_the_files_of_a_run_are_deleted(tmp_path):
    store, toy = Store(tmp_path, code=CODE), Toy(5)
    mine = {"notes.txt": "mine", ".config.json.old": "mine", "plots/loss.png": "mine"}
    for name, work in (("done", complete), ("half", lambda folder, toy: under_way(folder, toy, 3))):
        folder = tmp_path / name
        work(folder, toy)
        for path, text in mine.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        (folder / ".result.json.abcd1234").touch()  # what a process that was killed left
        Run(folder).restart()
        run = store.open(toy.config(), folder)
        assert run.state == "stopped" and run.checkpoint() is None and run.metrics().num_rows == 0
        complete(folder, toy)
        store.delete(Run(folder))
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        assert left == set(mine) and all((folder / path).read_text() == text for path, text in mine.items())
    complete(tmp_path / "alone", toy)
    store.delete(store.get("alone"))
    assert not (tmp_path / "alone").exists()


def test_files_beside_a_run_go_with_it(tmp_path):
    toy = Toy(3)
    run = opened(tmp_path / "a", toy)
    state = drive(toy, run)
    run.finish(toy.model(state), toy.result(state), beside={"extra.json": b"{}"})
    assert run.file("extra.json").read_bytes() == b"{}" and run.trouble() is None
    run.restart()
    assert list(contents(tmp_path / "a")) == ["config.json"]
    run.finish(toy.model(state), toy.result(state), beside={"extra.json": b"{}"})
    run.file("extra.json").write_bytes(b"[]")
    with pytest.raises(ValueError, match=r"extra.json is missing, or is not the file that result.json was written for"):
        run.file("extra.json")
    assert "extra.json" in str(run.trouble()) and [each.folder.name for each in Store(tmp_path).broken()] == ["a"]
    run.delete()
    assert contents(tmp_path / "a") == {"extra.json": b"[]"}, "what is not as the run wrote it is somebody's own now"
    complete(tmp_path / "b", toy)
    for name in ("notes.txt", "config.json", "../a.json", ".hidden.json", ""):
        with pytest.raises(ValueError, match=r"beside has the name .*; expected the name of a file of its own"):
            opened(tmp_path / "c", toy).finish(toy.model(state), {}, beside={name: b"{}"})
    assert not opened(tmp_path / "c", toy).finished


def test_a_deletion_that_is_cut_off_leaves_a_run(tmp_path, monkeypatch):
    """Whatever file is the last one to be deleted: the run can be done again, or deleted."""
    toy = Toy(5)
    whole = finished(tmp_path / "whole", toy)
    for count in range(12):
        folder = tmp_path / str(count)
        complete(folder, toy) if count % 2 else under_way(folder, toy, 3)
        left = count // 2

        def cut(path, real=_run.remove):
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            real(path)

        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(_run, "remove", cut)
            Run(folder).delete()
        complete(folder, toy)
        assert contents(folder) == whole


def test_no_resume_restarts_this_run_and_no_other(tmp_path):
    store, toy = Store(tmp_path, code=CODE), Toy(3)
    complete(tmp_path / "a", toy)
    (tmp_path / "a" / "notes.txt").write_text("mine")
    before = contents(tmp_path / "a")
    _restart(store, Toy(4).config(), tmp_path / "a")
    with pytest.raises(ValueError, match="holds another run: steps is 3 there and 4 here"):
        store.open(Toy(4).config(), tmp_path / "a")
    assert contents(tmp_path / "a") == before
    _restart(store, toy.config(), tmp_path / "a")
    assert set(contents(tmp_path / "a")) == {"config.json", "notes.txt"}
    complete(tmp_path / "a", toy)
    assert contents(tmp_path / "a") == before
    (tmp_path / "a" / "result.json").write_bytes(b"{")  # no reason not to do it again
    _restart(store, toy.config(), None)
    complete(tmp_path / "a", toy)
    assert contents(tmp_path / "a") == before


# The lock


def test_one_process_at_a_time(tmp_path):
    toy = Toy(3)
    run = opened(tmp_path / "a", toy)
    with another_process_on(run.folder):
        assert run.state == "running"
        for work in (lambda: drive(toy, run), lambda: run.save(toy.init()), lambda: Store(tmp_path).delete(run)):
            with pytest.raises(BlockingIOError, match="another process is working in"):
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
