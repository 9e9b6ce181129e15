"""Runs as tables: SQL, trackers, and `descant runs`."""

import io
import json
import math
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from descant.attention import LSA
from descant.cli import main
from descant.runs import Run, Store, drive, environment, query, tracker
from descant.training import State
from tests.support.run_folders import another_process_on, opened, risk_of, under_way
from tests.support.runs_worker import CODE, Toy, complete


class MemoryTracker:
    """Remembers what it is told."""

    def __init__(self):
        self.started = []
        self.rows = []
        self.result = None

    def start(self, name, config):
        self.started.append((name, config))

    def log(self, rows):
        self.rows.extend(rows)

    def finish(self, result):
        self.result = result


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


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{here}/secret.csv')",
        "SELECT * FROM '{here}/secret.csv'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_blob('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM parquet_scan('{here}/three/metrics.parquet')",
        "SELECT * FROM secret",
        "COPY runs TO '{here}/written.csv'",
        "COPY (SELECT 1) TO '{here}/secret.csv'",
        "EXPORT DATABASE '{here}/exported'",
        "IMPORT DATABASE '{here}'",
        "ATTACH '{here}/written.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD '{here}/secret.csv'",
        "SET enable_external_access = true",
        "SELECT 1; SET lock_configuration = false",
        "RESET enable_external_access",
        "SET python_enable_replacements = true",
        "SET temp_directory = '{here}/spilled'",
        "SET log_query_path = '{here}/log'",
        "PRAGMA profiling_output = '{here}/profile'",
        "PRAGMA enable_profiling = 'json'",
        "CALL enable_logging(storage = 'file', storage_config = {{'path': '{here}/log'}})",
        "CREATE PERSISTENT SECRET mine (TYPE s3)",
    ],
)
def test_sql_reads_and_writes_nothing_else(some_runs, sql):
    secret = [1]  # a name that SQL must not find
    (some_runs / "secret.csv").write_text("word\nxyzzy\n")
    before = {path: path.read_bytes() for path in some_runs.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="sql can't be answered: ") as said:
        query(sql.format(here=some_runs), some_runs)
    assert "xyzzy" not in str(said.value) and secret
    assert {path: path.read_bytes() for path in some_runs.rglob("*") if path.is_file()} == before


def test_broken_are_listed(some_runs):
    broken = {each.folder.name: each.reason for each in Store(some_runs).broken()}
    assert set(broken) == {"foreign", "torn", "lost"}
    assert "config.json does not exist" in broken["foreign"] and "can't be read: " in broken["torn"]
    assert "result.json can't be read: its checksum" in broken["lost"]
    for name, damage in (("metrics.jsonl", b"{"), ("checkpoint.safetensors", b"short")):
        path = some_runs / "half" / name
        whole = path.read_bytes()
        path.write_bytes(damage)
        broken = {each.folder.name: each.reason for each in Store(some_runs).broken()}
        assert name in broken["half"]
        query("SELECT * FROM runs, metrics", some_runs)
        with pytest.raises(ValueError, match="delete the run and start it again"):
            complete(some_runs / "half", Toy(9))
        path.write_bytes(whole)
    (some_runs / "three" / "metrics.parquet").write_bytes(b"PAR1")
    assert "three" in {each.folder.name for each in Store(some_runs).broken()}
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
    for word in ("six", "toy", "d=2 n=7", f"{risk_of(some_runs / 'six'):.6g}"):
        assert word in lines["six"]
    assert "stopped" in lines["half"] and out.count("Not a run: ") == 3
    status, out, _ = command("--root", some_runs, "--json", capsys=capsys)
    listed = {run["name"]: run for run in json.loads(out)["runs"]}
    assert set(listed) == {"half", "six", "three"} and listed["half"]["result"] is None
    assert listed["six"]["config"] == Toy(6, size=2).config() and abs(listed["six"]["updated"] - time.time()) < 600
    with another_process_on(some_runs / "half"):
        assert "running" in command("--root", some_runs, capsys=capsys)[1]
    monkeypatch.setenv("DESCANT_RUNS", str(some_runs / "nothing"))
    assert "There are no runs in" in command(capsys=capsys)[1]
    assert json.loads(command("--json", capsys=capsys)[1])["runs"] == []


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
