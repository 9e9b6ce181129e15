"""Runs on disk: what they hold, and how they go on to the same bits."""

import json
import math
import shutil
import signal
from contextlib import suppress

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from descant._signals import Terminated, terminate_politely
from descant.attention import LSA
from descant.runs import Run, Store, _checkpoint, drive, run_key
from descant.training import State
from tests.support.run_folders import contents, finished, opened
from tests.support.runs_worker import CODE, Toy, complete


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

        def finish_meanwhile(path, key, folder=folder, before=at is None, mark_of=mark_of):
            mark = mark_of(path, key) if before else None
            monkeypatch.setattr(_checkpoint, "mark_of", mark_of)
            complete(folder, toy)
            return mark or mark_of(path, key)

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


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("before", [True, False])
def test_asked_to_end_while_saving(tmp_path, monkeypatch, before, asked):
    """It comes before or after the save, never in its midst, and no row is kept twice."""
    whole = finished(tmp_path / "whole", Toy(30))
    run = opened(tmp_path / "a", Toy(30))
    save, saves = run.save, []

    def interrupted(state, rows):
        saves.append(state)
        if len(saves) == 7 and before:
            signal.raise_signal(asked)
        save(state, rows)
        if len(saves) == 7 and not before:
            signal.raise_signal(asked)

    monkeypatch.setattr(run, "save", interrupted)
    # A process that was started in the background ignores Ctrl-C.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with terminate_politely(), pytest.raises(Terminated if asked == signal.SIGTERM else KeyboardInterrupt):
            drive(Toy(30), run, every=0.0)
    finally:
        signal.signal(signal.SIGINT, inherited)
    state = run.checkpoint()
    assert len(saves) == 7 and state is not None and state.info["step"] == 7
    complete(tmp_path / "a", Toy(30))
    assert contents(tmp_path / "a") == whole


def test_what_was_asked_for_is_not_forgotten(tmp_path):
    """Python drops what is raised while it collects garbage: the next step ends the training all the same."""
    run = opened(tmp_path / "a", Toy(30))

    def lose(rows):
        if rows[0]["step"] == 7:
            with suppress(Terminated):
                signal.raise_signal(signal.SIGTERM)

    with terminate_politely(), pytest.raises(Terminated):
        drive(Toy(30), run, on_rows=lose)
    state = run.checkpoint()
    assert state is not None and state.info["step"] == 8


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
