"""The Python of a figure makes that figure: run, it draws what the page shows, panel by panel."""

import json
import math

import pytest

from descant.explorer._worker import answered
from descant.figures import drawing

TASK = {"d": 1, "n": 4, "mean": 1.0, "levels": [0.5]}
TRAINING = {"task": TASK, "model": "lsa", "steps": 20, "batch": 16}
PROGRAM = 'def gram(X: "n d"):\n    return X.T @ X\n'


def events(job: str, asked: dict) -> list[dict]:
    found = [json.loads(json.dumps(each)) for each in answered(job, asked)]
    assert found[-1] == {"event": "done"}, found[-1]
    return found


def same(one, other) -> bool:
    """Whether two figures are drawn alike: numbers to rounding, all else as it is."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def makes(figure: dict, folder, monkeypatch) -> None:
    """Run the Python of a figure, and look at what it drew."""
    monkeypatch.chdir(folder)
    made: dict = {}
    exec(compile(figure["python"], f"{figure['name']}.py", "exec"), made)
    drawn = json.loads(json.dumps(drawing(made["figure"])))
    assert same(drawn, {name: value for name, value in figure.items() if name not in ("python", "see")}), drawn["name"]
    assert (folder / f"{figure['name']}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("across", [{"axis": "heads"}, {"axis": "heads", "log": True, "spectrum": "4,1"}])
def test_curves(across, tmp_path, monkeypatch):
    spectrum = across.pop("spectrum", "")
    task = {**TASK, "d": 2, "spectrum": spectrum}
    (*_, last) = events("ask", {"task": task, "heads": 2, **across})[:-1]
    makes(last["figure"], tmp_path, monkeypatch)


def test_a_training_and_other_tasks(tmp_path, monkeypatch):
    (*_, trained) = events("learn", {**TRAINING, "solver": "auto"})[:-1]
    figure = trained["figure"]
    made: dict = {}
    monkeypatch.chdir(tmp_path)
    exec(compile(figure["python"], "learn.py", "exec"), made)
    drawn = json.loads(json.dumps(drawing(made["figure"])))
    # The page looks when it is time to, the program at every part: the ends are the same, and the lines.
    (own,), (theirs,) = (each["panels"] for each in (drawn, figure))
    assert same(own["baselines"], theirs["baselines"]) and same(own["y"], theirs["y"])
    assert same(own["series"][0]["rows"][-1][1], theirs["series"][0]["rows"][-1][1])
    source = {"training": {**TRAINING, "solver": "auto"}, "weights": trained["weights"]}
    (*_, last) = events("elsewhere", {"source": source, "task": {**TASK, "n": 9}, "axis": "noise"})[:-1]
    makes(last["figure"], tmp_path, monkeypatch)


def test_a_look_inside(tmp_path, monkeypatch):
    found = events("inside", {"source": {"network": "1-3-gd-2"}, "seed": 3})
    inside, reading = (next(each for each in found if each["event"] == name) for name in ("inside", "reading"))
    now = inside["layers"][1]
    for figure in (inside["fall"], now["walk"], now["maps"], reading["figures"][0]):
        makes(figure, tmp_path, monkeypatch)


def test_a_compiled_program(tmp_path, monkeypatch):
    found = events("compile", {"text": PROGRAM, "settings": {"n": 3}, "seed": 2})
    run = next(each for each in found if each["event"] == "run")
    for figure in (run["states"][1], run["sizes"]):
        makes(figure, tmp_path, monkeypatch)


def test_a_claim(tmp_path, monkeypatch):
    found = events("claim", {"id": "elsa-parameters", "folder": str(tmp_path / "claim")})
    judged = next(each for each in found if each["event"] == "judged")
    makes(judged["figures"][0], tmp_path, monkeypatch)
