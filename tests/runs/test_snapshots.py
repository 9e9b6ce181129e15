"""Models along a training: the same ones wherever it was interrupted, and never another run's."""

import shutil

import equinox as eqx
import pytest

from descant.attention import load, to_bytes
from descant.runs import Run, drive
from descant.runs._snapshots import MOST_BYTES
from tests.support.run_folders import contents, opened
from tests.support.runs_worker import SNAPSHOTS, Toy, complete


@pytest.fixture(autouse=True)
def keeping(monkeypatch):
    monkeypatch.setenv(SNAPSHOTS, "1")


def finished(folder, toy):
    complete(folder, toy, every=1e9)
    return contents(folder)


def test_the_models_after_some_of_the_rows(tmp_path):
    toy = Toy(12)
    finished(tmp_path / "a", toy)
    found = Run(tmp_path / "a").snapshots()
    # Fourteen rows: steps 5 and 10 have two.
    assert list(found) == [1, 2, 3, 4, 6, 8, 12]
    state = toy.init()
    for _ in range(4):
        state, _ = toy.advance(state)
    file = tmp_path / "model.safetensors"
    file.write_bytes(found[4])
    assert eqx.tree_equal(load(file), toy.model(state))


@pytest.mark.parametrize("every", [0.0, 1e9])
def test_interrupted_trainings_keep_the_same(tmp_path, every):
    toy = Toy(12)
    whole = finished(tmp_path / "a", toy)["snapshots.safetensors"]
    run = opened(tmp_path / "b" / "run", toy)

    def take(state):
        return to_bytes(toy.model(state))

    for stop_at in (1, 3, 1, 2):
        steps = iter(range(100))
        drive(toy, run, stop=lambda steps=steps, stop_at=stop_at: next(steps) == stop_at, every=every, snapshot=take)
    state = drive(toy, run, every=every, snapshot=take)
    run.finish(toy.model(state), toy.result(state))
    # Equal but for the key, and that is the same: one config.
    assert (run.folder / "snapshots.safetensors").read_bytes() == whole
    run.check()


def test_what_a_dead_process_took_is_not_counted(tmp_path):
    toy = Toy(12)
    run = opened(tmp_path / "a", toy)
    steps = iter(range(100))
    drive(toy, run, stop=lambda: next(steps) == 2, snapshot=lambda state: to_bytes(toy.model(state)))
    checkpoint = (run.folder / "checkpoint.safetensors").read_bytes()
    steps = iter(range(100))
    drive(toy, run, stop=lambda: next(steps) == 4, snapshot=lambda state: to_bytes(toy.model(state)))
    (run.folder / "checkpoint.safetensors").write_bytes(checkpoint)
    assert list(run.snapshots()) == [1, 2]


def test_another_runs_models_are_refused(tmp_path):
    finished(tmp_path / "a", Toy(12))
    run = opened(tmp_path / "b" / "run", Toy(9))
    shutil.copy(tmp_path / "a" / "snapshots.safetensors", run.folder)
    with pytest.raises(ValueError, match="belongs to the run of the key"):
        run.snapshots()


def test_large_models_are_left_out(tmp_path):
    toy = Toy(3)
    run = opened(tmp_path / "a", toy)
    drive(toy, run, snapshot=lambda state: b"0" * (MOST_BYTES + 1))
    assert run.snapshots() == {}


def test_restarting_deletes_them(tmp_path):
    toy = Toy(12)
    finished(tmp_path / "a", toy)
    Run(tmp_path / "a").restart()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [".lock", "config.json"]
