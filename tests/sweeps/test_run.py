"""Sweeps to their end: whoever works, whatever fails, however often they are begun."""

import tomllib

import pyarrow.parquet as pq
import pytest

from descant.sweeps import (
    EXECUTORS,
    Outcome,
    Plan,
    Progress,
    Store,
    find_evaluator,
    make_plan,
    read_table,
    run_sweep,
    to_table,
    write_table,
)
from descant.sweeps._grid import as_grid
from descant.sweeps._outcome import Outcome as Made

QUESTIONS = "tests.support.sweep_points"


def plan(question: str, last: int = 47) -> Plan:
    grid = as_grid({"grid": {"x": {"from": 0, "to": last, "count": last + 1}}})
    return make_plan(grid, find_evaluator(f"{QUESTIONS}:{question}"))


def to_its_end(asked: Plan, root, executor: str = "local", workers: int | None = None) -> Progress:
    team = EXECUTORS[executor](workers, None)
    try:
        *_, last = run_sweep(asked, Store(root), team)
    finally:
        team.close()
    return last


def values(asked: Plan, progress: Progress) -> dict[int, float | None]:
    return {asked.points[address]["x"]: outcome.value for address, outcome in progress.outcomes.items()}


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log"
    monkeypatch.setenv("SWEEP_LOG", str(path))
    return path


def asked_for(log) -> list[int]:
    return sorted(int(line.split()[0]) for line in log.read_text().splitlines()) if log.exists() else []


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_every_point_is_computed_once_whoever_works(executor, tmp_path, log):
    small, large = plan("square", 19), plan("square", 47)
    first = to_its_end(small, tmp_path, executor)
    assert values(small, first) == {x: float(x * x) for x in range(20)} and asked_for(log) == list(range(20))
    again = to_its_end(small, tmp_path, "local")
    assert again.found == 20 and again.share == 1.0 and asked_for(log) == list(range(20))
    more = to_its_end(large, tmp_path, executor)
    assert more.found == 20 and values(large, more) == {x: float(x * x) for x in range(48)}
    assert asked_for(log) == list(range(48))


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_a_point_that_fails_has_its_reason_and_stops_no_other(executor, tmp_path):
    asked = plan("no_thirteen")
    found = to_its_end(asked, tmp_path, executor)
    (failed,) = found.failed.values()
    assert failed.reason == "x is 13; expected a luckier number."
    assert {x for x, value in values(asked, found).items() if value is None} == {13}
    table = to_table(asked, found.outcomes).to_pydict()
    assert table["status"][13] == "failed" and table["value"][13] is None and table["reason"][13] == failed.reason
    # It is not kept, and tried again.
    assert to_its_end(asked, tmp_path).found == 47


def test_a_point_that_kills_its_process_is_blamed_alone(tmp_path, log):
    asked = plan("deadly")
    found = to_its_end(asked, tmp_path, "processes", 2)
    (failed,) = found.failed.values()
    assert failed.reason == "its process died (SIGKILL)"
    assert {x for x, value in values(asked, found).items() if value is None} == {13}
    assert asked_for(log).count(47) == 1


def test_workers_of_another_version_are_not_believed(tmp_path):
    asked = plan("square")
    other = Plan(asked.grid, asked.evaluator, "0" * 24, asked.points)
    for executor in ("local", "processes"):
        with pytest.raises(ValueError, match="expected the same version"):
            to_its_end(other, tmp_path, executor)


def test_the_table_has_a_row_per_point_and_says_what_it_is_of(tmp_path):
    asked = plan("square", 3)
    found = to_its_end(asked, tmp_path)
    store = Store(tmp_path)
    place = write_table(store, "squares", to_table(asked, found.outcomes, "squares"))
    table, about = read_table(str(tmp_path / "squares"))
    assert place == str(tmp_path / "squares" / "results.parquet")
    assert table.column_names == [
        "address", "x", "status", "value", "standard_error", "method", "theory", "reason", "parity",
    ]  # fmt: skip
    assert table.to_pydict()["x"] == [0, 1, 2, 3] and table.to_pydict()["value"] == [0, 1, 4, 9]
    assert about["name"] == "squares" and about["axes"] == [
        {"fields": ["x"], "values": [[0], [1], [2], [3]], "log": False}
    ]
    assert read_table(place)[0] == table
    before = (tmp_path / "squares" / "results.parquet").read_bytes()
    write_table(store, "squares", to_table(asked, found.outcomes, "squares"))
    assert (tmp_path / "squares" / "results.parquet").read_bytes() == before
    left = to_table(asked, {}).to_pydict()
    assert left["status"] == ["left"] * 4 and left["value"] == [None] * 4


def test_values_of_mixed_types_are_text(tmp_path):
    grid = as_grid(tomllib.loads('[grid]\nx = [1, "one", [1, 2]]\n'))
    asked = make_plan(grid, find_evaluator(f"{QUESTIONS}:square"))
    assert to_table(asked, {}).to_pydict()["x"] == ["1", '"one"', "[1,2]"]


def test_what_is_no_table_is_neither_read_nor_written_over(tmp_path):
    path = tmp_path / "mine" / "results.parquet"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    asked = plan("square", 3)
    with pytest.raises(ValueError, match="no table of a sweep"):
        write_table(Store(tmp_path), "mine", to_table(asked, {}))
    assert path.read_bytes() == b"mine"
    pq.write_table(to_table(asked, {}).replace_schema_metadata({}), path)
    with pytest.raises(ValueError, match="no table of a sweep"):
        read_table(str(path))
    with pytest.raises(ValueError, match="holds no results"):
        read_table(str(tmp_path))


def test_what_a_function_of_ones_own_may_answer():
    assert Outcome.of(3).value == 3.0
    assert Outcome.of({"value": 2, "method": "guess", "size": 4}) == Made(value=2.0, method="guess", more={"size": 4})
    with pytest.raises(ValueError, match="expected `value` among its names"):
        Outcome.of({"risk": 2})
    with pytest.raises(ValueError, match="expected a function of a point"):
        find_evaluator("math:pi")
