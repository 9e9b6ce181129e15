"""What all commands have in common: help, completion, JSON with one head, tables that fit."""

import json
from pathlib import Path

import numpy as np
import pytest

import descant
from descant.cli import app
from descant.runs import Store
from tests.cli.test_task_flags import config_of
from tests.support.commands import run

COMMANDS = [
    ("risk",), ("train",), ("eval",), ("models",), ("runs",), ("runs", "compare"), ("runs", "delete"), ("claims",),
    ("reproduce",), ("crosscheck",), ("table1",), ("compile",), ("run",), ("programs",), ("fuzz",),
    ("decompile",), ("sweep",),
    ("llm", "sts"), ("llm", "models"), ("explore",), ("explain",),
]  # fmt: skip


def leaves(parent, path=()):
    """All commands that do something, by their words."""
    for name in parent:
        if not name.startswith("-"):
            words = (*path, name)
            yield from leaves(parent[name], words)
            if parent[name].default_command is not None:
                yield words


def test_the_list_of_commands_is_whole():
    assert sorted(leaves(app)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_is_tidy(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(*command, "--help", capsys=capsys)
    assert status == 0 and "--json" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    for noise in ("--empty-", "--no-json", "[default: False]", "[default: True]", "[default: ()]"):
        assert noise not in out


def test_completion_is_installed_and_in_the_help(tmp_path, capsys, monkeypatch):
    for name in ("ZSH", "ZSH_CUSTOM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "--install-completion" in run("--help", capsys=capsys)[1]
    for shell in ("bash", "zsh", "fish"):
        status, out, err = run("--install-completion", "--shell", shell, capsys=capsys)
        assert status == 0, err
        script = Path(out.removeprefix("Written: ").partition(". A new shell")[0])
        assert script.is_relative_to(tmp_path)
        assert "input-spectrum" in script.read_text() and "crosscheck" in script.read_text()
    assert str(tmp_path) in (tmp_path / ".bashrc").read_text()
    monkeypatch.setattr("cyclopts.completion.detect.detect_shell", _nobody)
    status, _, err = run("--install-completion", capsys=capsys)
    assert status == 2 and "expected --shell bash" in err


def _nobody():
    from cyclopts.completion.detect import ShellDetectionError

    raise ShellDetectionError


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Two runs under way, a compiled program and its inputs; at home in this folder."""
    from descant.cli._task import TaskFlags

    for name in ("HOME", "XDG_CACHE_HOME", "DESCANT_RUNS"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / "runs")
    for name, noise in (("one", "uniform:5"), ("two", "1,3")):
        task = TaskFlags(d=10, n=20, noise=noise, prior_mean=tuple(map(float, range(10))), inputs="student-t:15")
        store.open(config_of(task).to_json(), tmp_path / "runs" / name)
    (tmp_path / "squares.toml").write_text('evaluator = "tests.support.sweep_points:square"\n[grid]\nx = [1, 2]\n')
    np.savez(tmp_path / "data.npz", X=np.ones((4, 2)), y=np.ones((4, 1)))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ("models", (None, None)),
        ("programs", (None, None)),
        ("claims zero-mean-heads", (None, None)),
        ("runs --root runs", (None, None)),
        ("runs compare one two --root runs", (None, None)),
        ("runs delete one --yes --root runs", (None, None)),
        ("risk zero --d 2 --n 3 --seed 5 --samples 64", (5, 64)),
        ("llm models", (None, None)),
        ("sweep squares.toml --executor local", (None, None)),
        ("compile ridge --set n=4 d=2 T=2 --out made", (None, None)),
    ],
)
def test_every_json_has_the_same_head(words, drawn, folder, capsys):
    status, out, err = run(*words.split(), "--json", capsys=capsys)
    assert status == 0, err
    assert out.count("\n") == 1 and out.endswith("\n")
    found = json.loads(out)
    assert list(found)[:4] == ["command", "version", "seed", "samples"]
    assert words.startswith(found["command"]) and found["version"] == descant.__version__
    assert (found["seed"], found["samples"]) == drawn
    if found["command"] == "compile":
        ran = run("run", "made", "--inputs", "data.npz", "--out", "result.npz", "--json", capsys=capsys)[1]
        assert list(json.loads(ran))[:4] == list(found)[:4]


def test_what_is_judged_and_checked_is_json_too(folder, monkeypatch, capsys):
    """The same head where an experiment is run; the experiments themselves are other tests' business."""
    import descant.claims
    import descant.crosscheck
    import descant.figures.static
    import descant.report

    monkeypatch.setattr(descant.claims, "judge_all", lambda asked, *_, **__: iter(()))
    monkeypatch.setattr(descant.report, "write_report", lambda *_: Path("report/index.html"))
    monkeypatch.setattr(descant.claims, "find", lambda ids: {})
    status, out, err = run("reproduce", "--json", "--seed", "2", capsys=capsys)
    assert status == 0, err
    found = json.loads(out)
    assert (found["command"], found["seed"], found["samples"], found["verdicts"]) == ("reproduce", 2, None, [])
    monkeypatch.setattr(descant.crosscheck, "measure_all", lambda *_: iter(()))
    monkeypatch.setattr(descant.crosscheck, "heads_figure", lambda: None)
    monkeypatch.setattr(descant.figures.static, "png", lambda figure: b"")
    monkeypatch.setattr(descant.crosscheck, "largest_z", lambda rows: (0.5, 3))
    status, out, err = run("crosscheck", "--json", "--samples", "64", capsys=capsys)
    assert status == 0, err
    assert json.loads(out)["samples"] == 64 and json.loads(out)["largest_z"] == 0.5


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_and_nothing_is_cut(columns, folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    long = "a_name_of_my_own_that_is_longer_than_most"
    (folder / "runs" / "one").rename(folder / "runs" / long)
    for command in (("runs", "--root", "runs"), ("programs",), ("models",)):
        out = run(*command, capsys=capsys)[1]
        assert all(len(line) <= columns for line in out.splitlines()) and "…," not in out.replace("2, …, 9", "")
    out = run("runs", "--root", "runs", capsys=capsys)[1]
    for word in ("noise=uniform:5", "noise=1,3", "prior-mean=(0, 1,", "inputs=student-t:15", "stopped"):
        assert word in out
    assert "prior-scale" not in out and "label-noise" not in out
    assert long in "".join(line.split(" ")[1] for line in out.splitlines() if line.startswith(" "))
