"""Who lacks a package that an extra brings is told so in one sentence; what doesn't need it goes on without."""

import json
import subprocess
import sys
import tomllib

import pytest

from descant._extras import CALLED, EXTRAS, MissingExtra, require
from descant.runs import Run, query
from tests.support import ROOT
from tests.support.commands import run

TRAIN = ("train", "lsa", "--d", "2", "--n", "4", "--samples", "256")


@pytest.fixture
def without(monkeypatch):
    """As if the packages of all three extras were not installed: Python's own way to say so."""
    for package in EXTRAS:
        for name in [name for name in sys.modules if name.split(".")[0] == package] + [package]:
            monkeypatch.setitem(sys.modules, name, None)


def test_extras_are_those_of_the_package():
    """Every package that is looked for is brought by the extra that the sentence names, and is not in the core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for package, extra in EXTRAS.items():
        name = CALLED.get(package, package)
        assert any(each.startswith(f"{name}>=") for each in project["optional-dependencies"][extra])
        assert not any(each.startswith(name) for each in project["dependencies"])


def test_a_sentence_names_the_extra(without):
    sentence = r"^a table needs pyarrow, .*; `pip install '\.\[tables\]'` in a clone gets it\.$"
    with pytest.raises(MissingExtra, match=sentence):
        require("pyarrow", "a table")
    with pytest.raises(MissingExtra, match=r"SQL about runs needs duckdb"):
        query("select 1")


def test_a_training_is_kept_without_pyarrow(without, tmp_path, capsys):
    """Rows stay lines; the run is whole, is found again, tells its rows, and refuses a table with a sentence."""
    folder = tmp_path / "run"
    status, out, err = run(*TRAIN, "--out", str(folder), "--json", capsys=capsys)
    assert status == 0, err
    first = json.loads(out)
    assert {path.name for path in folder.iterdir()} >= {"metrics.jsonl", "model.safetensors", "result.json"}
    assert not (folder / "metrics.parquet").exists()
    status, out, err = run(*TRAIN, "--out", str(folder), "--json", capsys=capsys)
    assert status == 0 and json.loads(out) == first, err
    kept = Run(folder)
    assert kept.trouble() is None and kept.records()
    with pytest.raises(MissingExtra, match="a table of metrics needs pyarrow"):
        kept.metrics()
    (folder / "metrics.jsonl").write_text("{}\n")
    assert "metrics.jsonl" in (kept.trouble() or "")


def test_the_same_rows_with_and_without(tmp_path, capsys, monkeypatch):
    """`records` are those of the table, however they were kept."""
    assert run(*TRAIN, "--out", str(tmp_path / "with"), capsys=capsys)[0] == 0
    table = Run(tmp_path / "with")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        assert run(*TRAIN, "--out", str(tmp_path / "without"), capsys=capsys)[0] == 0
        with pytest.raises(MissingExtra, match=r"metrics.parquet, the metrics of a finished run, needs pyarrow"):
            table.records()
    lines = Run(tmp_path / "without")
    assert lines.records() and lines.records() == table.records()
    assert lines.metrics() == table.metrics()


def test_the_shell_says_it_too(tmp_path):
    """In a process of its own: a sweep, and the status is that of a mistake."""
    grid = tmp_path / "grid.toml"
    grid.write_text('evaluator = "risk"\n[base]\n')
    hidden = "import sys\nsys.modules['pyarrow'] = None\nfrom descant.cli import main\nmain()"
    words = [sys.executable, "-c", hidden, "sweep", str(grid)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "whose table is a Parquet file, needs pyarrow" in done.stderr and "'.[tables]'" in done.stderr


def test_claims_that_lack_a_package_are_refused_before_anything_is_computed(without, tmp_path, capsys):
    status, out, err = run("reproduce", "ltb", "--out", str(tmp_path / "report"), capsys=capsys)
    assert (status, out) == (2, "")
    assert "the claim digits needs scikit-learn, which is not installed" in err and "'.[claims]'" in err
    assert not list(tmp_path.rglob("judgement.json"))
