"""Grid files: which points they stand for, and what is wrong with those that stand for none."""

import tomllib

import pytest

from descant.cli._points import RISK
from descant.cli._trainings import TRAIN
from descant.sweeps import make_plan, read_grid
from descant.sweeps._grid import as_grid

BASE = '[task]\nd = 2\nn = 4\n[model]\nname = "lsa"\n'


def points(text: str) -> list[dict]:
    return list(as_grid(tomllib.loads(text)).expanded())


def test_a_grid_is_every_combination_and_the_last_axis_is_the_fastest():
    found = points("[task]\nd = 2\n[grid]\nmodel.heads = [1, 2]\ntask.noise = { from = 0, to = 1, count = 3 }\n")
    assert [(each["model.heads"], each["task.noise"]) for each in found] == [
        (1, 0), (1, 0.5), (1, 1), (2, 0), (2, 0.5), (2, 1),
    ]  # fmt: skip
    assert all(each["task.d"] == 2 for each in found)


def test_ranges_end_where_they_say():
    found = points("[grid]\ntask.noise = { from = 0.1, to = 10, count = 5, log = true }\n")
    values = [each["task.noise"] for each in found]
    assert values[0] == 0.1 and values[-1] == 10
    assert values[2] == pytest.approx(1.0, rel=1e-15)
    whole = [each["task.n"] for each in points("[grid]\ntask.n = { from = 2, to = 10, count = 5 }\n")]
    assert whole == [2, 4, 6, 8, 10] and all(type(each) is int for each in whole)


def test_zipped_fields_go_together_and_single_points_stand_beside():
    text = """
[grid]
"model.heads" = [1, 2]
[[zip]]
task.d = [2, 4]
task.n = [4, 8]
[[points]]
task.d = 3
task.n = 5
"""
    found = [(each.get("model.heads"), each["task.d"], each["task.n"]) for each in points(text)]
    assert found == [(1, 2, 4), (1, 4, 8), (2, 2, 4), (2, 4, 8), (None, 3, 5)]


def test_points_alone_are_no_grid_and_nothing_is_one_point():
    assert [each["task.n"] for each in points("[task]\nn = 3\n[[points]]\ntask.n = 4\n")] == [4]
    assert points("[task]\nn = 3\n") == [{"task.n": 3}]


def test_points_are_whole_and_each_is_there_once():
    grid = as_grid(tomllib.loads(BASE + "[grid]\ntask.noise = [0, 1, 1.0]\n[[points]]\ntask.noise = 0.0\n"))
    plan = make_plan(grid, RISK)
    assert grid.count == 4 and [point["task.noise"] for point in plan.points.values()] == [0.0, 1.0]
    assert next(iter(plan.points.values()))["measure.samples"] == 32_768


def test_the_same_point_of_two_grids_has_one_address():
    one = make_plan(as_grid(tomllib.loads(BASE + "[grid]\ntask.noise = [0.5, 1]\n")), RISK)
    other = make_plan(as_grid(tomllib.loads(BASE + "[grid]\nmodel.heads = [1, 2]\n[[points]]\ntask.noise = 1\n")), RISK)
    assert len(set(one.points) & set(other.points)) == 1
    training = make_plan(as_grid(tomllib.loads(BASE + "[grid]\ntask.noise = [0.5, 1]\n")), TRAIN)
    assert not set(one.points) & set(training.points)


def test_points_are_grouped_by_what_is_compiled():
    text = BASE + '[grid]\nmodel.heads = [1, 2]\ntask.noise = [0.5, 1.0, "uniform:5"]\ntraining.seed = [0, 1]\n'
    plan = make_plan(as_grid(tomllib.loads(text)), TRAIN)
    assert sorted(map(len, plan.groups.values())) == [2, 2, 4, 4]
    jobs = plan.jobs()
    assert sum(len(job.points) for job in jobs) == 12 and len(jobs) == 4
    assert sum(len(job.points) for job in plan.jobs(without=list(plan.points)[:5])) == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[grid]\ntask.noise = []", "task.noise is an empty list"),
        ("[grid]\ntask.noise = 3", "expected a list, or a range"),
        ("[grid]\ntask.noise = { from = 0, to = 1 }", "expected from, to, count"),
        ("[grid]\ntask.noise = { from = 0, to = 1, count = 0 }", "count = 0"),
        ("[grid]\ntask.noise = { from = 0, to = 1, count = 1 }", "at least 2"),
        ("[grid]\ntask.noise = { from = 0, to = 1, count = 3, log = true }", "positive ends"),
        ("[grid]\ntask.noise = { from = nan, to = 1, count = 3 }", "finite"),
        ('[grid]\ntask.noise = { from = "a", to = 1, count = 3 }', "finite"),
        ("[grid]\ntask.noise = { from = 1, to = 2, count = 3, log = 1 }", "true or false"),
        ("[grid]\ntask.n = [1]\n[[zip]]\ntask.n = [2]", "on two axes"),
        ("[[zip]]\ntask.n = [2]\ntask.d = [1, 2]", "different lengths"),
        ("[[zip]]\n", "zip 1 is empty"),
        ("grid = 3", "expected a table"),
        ("[points]\nx = 1", "[[points]]"),
        ("task = 3", "expected sections"),
        ("evaluator = 3", "evaluator is 3"),
        ("[grid]\na = { from = 0, to = 1, count = 2000 }\nb = { from = 0, to = 1, count = 2000 }", "at most 1000000"),
        ("task", "no TOML file"),
    ],
)
def test_what_is_no_grid_is_refused_in_a_sentence(text, words, tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"grid\.toml") as error:
        read_grid(path)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task.nose = [1]", "did you mean task.noise?"),
        ("training.steps = [1]", "training.steps is no field of a point"),
        ('task.d = ["two"]', "task.d is 'two'; expected a whole number"),
        ("task.d = [1.5]", "task.d is 1.5; expected a whole number"),
        ("model.query_masked = [1]", "expected true or false"),
        ("task.prior_mean = [[1, true]]", "task.prior_mean[1] is True"),
        ("task.noise = [true]", "expected a finite number or text"),
    ],
)
def test_what_is_no_field_is_refused_before_anything_is_computed(text, words):
    with pytest.raises(ValueError) as error:
        make_plan(as_grid(tomllib.loads(BASE + "[grid]\n" + text)), RISK)
    assert words in str(error.value)


def test_a_field_that_is_left_out_is_named():
    with pytest.raises(ValueError, match=r"task\.d is left out"):
        make_plan(as_grid({"model": {"name": "lsa"}}), RISK)
