"""The same grid gives the same bytes, whoever computes it and however its points are grouped."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from descant.cli._points import RISK
from descant.cli._trainings import TRAIN
from descant.sweeps import make_plan, to_table
from descant.sweeps._grid import as_grid
from descant.sweeps._work import answers

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is an extra")
RISKS = {
    "task": {"d": 3, "n": 5, "prior_scale": 0.7},
    "model": {"name": "multi-head-lsa"},
    "grid": {"model.heads": [1, 2, 3, 4], "task.prior_mean": [0.0, 0.4, 1.1, 2.0], "task.noise": [0.0, 0.5, 3.0]},
}
TRAININGS = {
    "task": {"d": 2, "n": 4},
    "model": {"name": "lsa"},
    "grid": {"task.prior_mean": [0.3, 1.0, 2.0], "task.noise": [0.2, 1.0], "training.seed": [0, 1]},
}
ADAM = {**TRAININGS, "training": {"solver": "adam", "steps": 30, "batch": 16}, "measure": {"samples": 256}}
TOML = """
[task]
d = 2
n = 4
[model]
name = "lsa"
[training]
solver = "population"
[grid]
task.prior_mean = [0.3, 1.0, 2.0]
task.noise = { from = 0.1, to = 1.0, count = 11 }
"""


@pytest.mark.parametrize(("evaluator", "raw"), [(RISK, RISKS), (TRAIN, TRAININGS), (TRAIN, ADAM)])
def test_a_point_does_not_depend_on_its_group(evaluator, raw, relaxed):
    plan = make_plan(as_grid(raw), evaluator)
    together = dict(zip(plan.points, answers(evaluator, list(plan.points.values())), strict=True))
    assert all(each.done for each in together.values()), together
    backwards = list(plan.points)[::-1]
    some = replace(plan, points={address: plan.points[address] for address in backwards[::2]})
    found = dict(zip(some.points, answers(evaluator, list(some.points.values())), strict=True))
    assert all(found[address].as_json() == together[address].as_json() for address in some.points)
    first = next(iter(plan.points))
    assert answers(evaluator, [plan.points[first]])[0].as_json() == together[first].as_json()


def sweep(folder, executor: str) -> bytes:
    (folder / "same.toml").write_text(TOML)
    words = ["-m", "descant", "sweep", "same.toml", "--executor", executor, "--out", executor]
    words += [] if executor == "local" else ["--workers", "2"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / executor / "same" / "results.parquet").read_bytes()


@pytest.mark.slow
def test_processes_give_the_bytes_of_this_process(tmp_path):
    assert sweep(tmp_path, "processes") == sweep(tmp_path, "local")


@needs_ray
@pytest.mark.slow
def test_ray_gives_the_bytes_of_this_process(tmp_path):
    assert sweep(tmp_path, "ray") == sweep(tmp_path, "local")


def test_tables_of_equal_sweeps_are_equal():
    plan = make_plan(as_grid(RISKS), RISK)
    outcomes = dict(zip(plan.points, answers(RISK, list(plan.points.values())), strict=True))
    turned = dict(reversed(list(outcomes.items())))
    assert to_table(plan, outcomes, "a").equals(to_table(plan, turned, "a"), check_metadata=True)
