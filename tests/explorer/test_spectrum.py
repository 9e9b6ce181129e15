"""Spectra of inputs on the page are those of the library, and a run is opened on no other task than its own."""

import numpy as np
import pytest

from descant.explorer._ask import Question, answer
from descant.explorer._inside import _shown
from descant.explorer._task import IMPORTS, Task
from descant.forms import least_risk
from descant.theory import Problem

TASK = {"d": 3, "n": 6, "mean": 1.0, "levels": [0.5]}
LAWS = {"prior": "gaussian", "inputs": "gaussian", "label_noise": "gaussian", "noise": "0.5", "task": None}
RUN = {**LAWS, "d": 3, "n": 6, "prior_mean": 1.0, "prior_scale": 1.0, "input_condition": 1.0, "input_spectrum": None}


@pytest.mark.parametrize("spectrum", ["power:1.5", "4,1,0.25", "2,2,0"])
def test_a_spectrum_is_the_librarys(spectrum):
    task = Task.read({**TASK, "spectrum": spectrum})
    made: dict = {}
    exec(f"{IMPORTS}task = {task.python()}", made)
    built = task.regression()
    for each in (made["task"], built):
        np.testing.assert_array_equal(np.asarray(each.inputs.cov), task.problem().inputs)
    assert f"--input-spectrum {spectrum}" in task.flags()
    rows = {
        row["name"]: row for row in answer(Question.read({"task": {**TASK, "spectrum": spectrum}, "heads": 2}))["rows"]
    }
    for name in ("zero", "gd", "gd-beta"):
        exact = least_risk(name, Problem(np.ones(3), np.eye(3), built.inputs.cov, 6, sigma=0.5))
        assert rows[name]["risk"] == pytest.approx(exact, rel=1e-12)
    # Two equal eigenvalues need no search.
    assert (rows["lsa"]["words"] == "searching") == (spectrum != "2,2,0")


@pytest.mark.parametrize(
    "spectrum", ["power:", "power:99", "power:1,2", "1,1", "1,1,x", "0,0,0", "1,1,-1", "nan,1,1", "x"]
)
def test_an_odd_spectrum_gets_a_sentence(spectrum):
    with pytest.raises(ValueError, match=r"^spectrum is .*; expected .*\.$"):
        Task.read({**TASK, "spectrum": spectrum})


def test_what_a_spectrum_fixes_is_no_axis():
    for spectrum, axis in (("power:1", "condition"), ("1,2,3", "d"), ("1,2,3", "condition")):
        with pytest.raises(ValueError, match="axis is"):
            Question.read({"task": {**TASK, "spectrum": spectrum}, "heads": 1, "axis": axis})
    with pytest.raises(ValueError, match="one of the two"):
        Task.read({**TASK, "spectrum": "power:1", "condition": 2.0})


def test_a_run_is_opened_on_its_own_task_or_not_at_all():
    assert _shown(RUN, "r") == Task.read(TASK)
    assert _shown({**RUN, "input_spectrum": [4.0, 1.0, 0.5]}, "r").spectrum == "4,1,0.5"
    laws = {"inputs": "sphere", "prior": "laplace", "label_noise": "student-t:5", "noise": "log-uniform:0.1,3"}
    for name, value in {**laws, "prior_mean": [1.0, 0.0, 0.0], "task": "own:Task"}.items():
        with pytest.raises(ValueError, match="none that this page has sliders for"):
            _shown({**RUN, name: value}, "r")
