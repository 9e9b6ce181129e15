"""What `descant crosscheck` leaves on disk."""

import csv
import json
import os

import numpy as np
import pytest

from descant import FixedNoise, LinearRegression, _disk, crosscheck
from descant.cli import main
from descant.crosscheck import _risks
from descant.figures import Figure, HeatMap
from descant.figures.static import png
from descant.measure import ESTIMATORS


@pytest.fixture
def small(monkeypatch):
    """Two small tasks in place of the four."""
    tasks = {
        "short: no residuals": LinearRegression(2, 2, noise=FixedNoise(0.5)),
        "long": LinearRegression(2, 9, noise=FixedNoise(0.5)),
    }
    monkeypatch.setattr(_risks, "four_tasks", lambda: tasks)
    monkeypatch.setattr(crosscheck, "four_tasks", lambda: tasks)
    monkeypatch.setattr(crosscheck, "heads_figure", lambda: Figure("heads", "", "", (HeatMap("", ((1.0,),)),)))
    return tasks


def read(folder) -> list[dict]:
    with (folder / "risks.csv").open() as file:
        return list(csv.DictReader(file))


def test_crosscheck_measures_resumes_and_judges(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out = tmp_path / "results"
    arguments = ["crosscheck", "--out", str(out), "--samples", "4096"]
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    assert "Largest |z|" in capsys.readouterr().out
    rows = read(out)
    assert [row["name"] for row in rows] == ESTIMATORS.names() * 2
    skipped = [row for row in rows if row["note"]]
    assert {row["name"] for row in skipped} == {"ada-ridge", "tuned-ridge"} and len(skipped) == 2
    for row in rows:
        if row not in skipped:
            assert float(row["moments_error"]) >= 0
            # Least squares on two noisy tokens in two dimensions has an infinite risk: nothing to compare with.
            assert row["exact"] == "inf" or abs(float(row["z_tokens"])) < 4

    # A second run finds what is finished; a run that lost one task computes that one only.
    calls = []
    real = _risks.measure_task
    monkeypatch.setattr(_risks, "measure_task", lambda label, *rest: calls.append(label) or real(label, *rest))
    kept = sorted((out / "rows").glob("*.json"))
    assert len(kept) == 2
    lost = next(path for path in kept if json.loads(path.read_text())["value"][0]["task"] == "long")
    lost.unlink()
    with pytest.raises(SystemExit):
        main(arguments)
    assert calls == ["long"]
    assert read(out) == rows

    # Other samples are another result, and a wrong estimate is status 1.
    wrong = [_risks.RiskRow("long", "zero", 1.0, 2.0, 0.1, 2.0, 0.1, 10.0, 10.0)]
    monkeypatch.setattr(_risks, "measure_task", lambda *_: wrong)
    with pytest.raises(SystemExit) as stop:
        main([*arguments[:-1], "4000"])
    assert stop.value.code == 1


def test_files_are_whole_or_absent(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file.txt"
    _disk.write_whole(path, "old")
    assert path.read_text() == "old" and os.stat(path).st_mode & 0o777 == 0o644

    def crash(*_):
        raise OSError("disk on fire")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="fire"):
        _disk.write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


def test_z_scores_forgive_rounding_only():
    assert _risks.z_score(1e-14, 1e-15, 1.0) == 0.0
    assert _risks.z_score(0.3, 0.1, 1.0) == pytest.approx(3.0)


def test_the_four_tasks_are_four_problems():
    tasks = crosscheck.four_tasks()
    assert len(tasks) == 4
    assert len({(task.d, task.n) for task in tasks.values()}) == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning:matplotlib")
def test_the_figure_is_a_png():
    image = png(crosscheck.heads_figure(d=3, n=4))
    assert image.startswith(b"\x89PNG") and len(image) > 20_000
    assert np.frombuffer(image[16:20], ">u4").tolist() == [1120]
