"""Trainings as runs: continued bit for bit; `descant train` and `descant eval`."""

import contextlib
import json
import os
import subprocess
import sys
from itertools import pairwise

import jax
import numpy as np
import pytest

from descant import (
    FixedNoise,
    GaussianPrior,
    LinearRegression,
    attention as at,
    best,
    risk,
)
from descant.cli import main
from descant.runs import Store, drive
from descant.training import References, choose, make_model, make_trainer, train
from descant.training._display import losses, where
from tests.support.training_tasks import TASK


@pytest.mark.parametrize("solver", ["population", "lm", "adam"])
def test_an_interrupted_training_ends_in_the_same_bits(solver, tmp_path, relaxed, few_draws):
    law = LinearRegression(2, 5, GaussianPrior.isotropic(2, mean=0.5), noise=FixedNoise(0.5))
    model = at.FreeDiag.random(2, key=jax.random.key(0)) if solver == "lm" else at.LSA.random(2, key=jax.random.key(0))
    settings = {
        "population": {"random_starts": 3},
        "lm": {"random_starts": 1, "pieces": 2, "most_pieces": 2, "screen_steps": 3, "refine_steps": 6},
        "adam": {"steps": 60, "chunk": 10, "batch": 32},
    }[solver]

    def trainer():
        choice = choose(model, law, solver, "auto")
        return make_trainer(model, law, choice, key=jax.random.key(1), **settings)

    whole = Store(tmp_path / "whole").open({"a": 1})
    state = drive(trainer(), whole)
    whole.finish(trainer().model(state), {"risk": 0.0})
    cut = Store(tmp_path / "cut").open({"a": 1})
    for _ in range(500):
        calls = []
        state = drive(trainer(), cut, stop=lambda calls=calls: len(calls.append(1) or calls) > 2)
        if trainer().finished(state):
            break
    else:
        pytest.fail("never finished")
    cut.finish(trainer().model(state), {"risk": 0.0})
    for name in ("model.safetensors", "metrics.parquet"):
        assert (whole.folder / name).read_bytes() == (cut.folder / name).read_bytes(), name


def command(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return stopped.value.code, output.out, output.err


def test_train_and_eval_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DESCANT_RUNS", str(tmp_path / "runs"))
    arguments = [
        "train",
        "lsa",
        "--d",
        3,
        "--n",
        5,
        "--prior-mean",
        1,
        "--samples",
        4096,
        "--out",
        tmp_path / "run",
        "--json",
    ]
    status, out, err = command(arguments, capsys)
    assert status == 0, err
    result = json.loads(out)
    law = LinearRegression(3, 5, GaussianPrior.isotropic(3, mean=1.0))
    np.testing.assert_allclose(result["risk"], risk(best("lsa", law), law).value, rtol=1e-6)
    assert result["standard_error"] == 0.0
    stamp = (tmp_path / "run" / "result.json").stat().st_mtime_ns
    status, again, _ = command(arguments, capsys)
    assert json.loads(again)["risk"] == result["risk"]
    assert (tmp_path / "run" / "result.json").stat().st_mtime_ns == stamp, "a finished run is found, not repeated"
    status, out, _ = command(["eval", tmp_path / "run", "--json", "--samples", 4096, "--levels", 2], capsys)
    measured = json.loads(out)
    assert status == 0
    np.testing.assert_allclose(measured["risk"], result["risk"], rtol=1e-12)
    assert {"risk", "standard_error", "adjusted"} <= set(measured)
    assert [row["sigma"] for row in measured["levels"]] == [0.0, 1.0]
    assert measured["levels"][1]["risk"] > measured["levels"][0]["risk"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "gru"], "model is 'gru'"),
        (
            ["train", "lsa", "--layers", 3],
            "--layers means nothing to the model lsa; leave it out. It takes: --heads, --query-masked.",
        ),
        (["train", "ltb", "--heads", 2], "--heads means nothing to the model ltb; leave it out. It takes: none."),
        (["train", "ltb", "--tied"], "--tied means nothing to the model ltb"),
        (["train", "lsa", "--solver", "sgd"], "solver is 'sgd'; expected one of: population, lm, adam"),
        (["train", "ltb", "--query-attends"], "--query-attends means nothing to the model ltb"),
        (["train", "lsa", "--objective", "hinge"], "objective is 'hinge'"),
        (["train", "lsa", "--lr", 0.1], "--lr means nothing to the solver population"),
        (["train", "lsa", "--mlp", "relu"], "--mlp means nothing to the model lsa"),
        (["train", "softmax", "--mlp", "tanh"], "mlp is 'tanh'"),
        (["train", "softmax", "--lr", -1], "lr is -1.0"),
        (["train", "softmax", "--solver", "lm"], "not linear in the query; use adam"),
        (["train", "softmax", "--solver", "population"], "exact risk of this SoftmaxTransformer"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, capsys):
    status, _, err = command([*arguments, "--d", 3, "--n", 5, "--out", tmp_path / "run"], capsys)
    assert status == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1


def test_eval_of_what_is_no_run(tmp_path, capsys):
    status, _, err = command(["eval", tmp_path / "nothing"], capsys)
    assert status == 2
    assert len(err.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_bits(tmp_path):
    """SIGKILL the real command while it trains, as often as it takes; its files are those of an undisturbed run."""

    def start(folder):
        arguments = ["train", "gd++", "--layers", "2", "--d", "3", "--n", "8", "--noise", "0.5", "--solver", "adam"]
        sizes = ["--steps", "3000", "--batch", "256", "--samples", "2048", "--out", str(folder), "--json"]
        environment = {**os.environ, "DESCANT_RUNS": str(tmp_path / "runs"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "descant", *arguments, *sizes]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    undisturbed = start(whole)
    _, error = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, error
    rng = np.random.default_rng()
    kills = 0
    for _ in range(20):
        process = start(cut)
        if kills < 3:
            # From before the first checkpoint to after the last one.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=rng.uniform(3.0, 10.0))
        if kills < 3 and process.poll() is None:
            process.kill()
            process.communicate()
            kills += 1
            continue
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        if (cut / "result.json").exists():
            break
    for name in ("model.safetensors", "metrics.parquet", "result.json"):
        assert (whole / name).read_bytes() == (cut / name).read_bytes(), name


def test_the_display_says_what_a_loss_means():
    references = References(bayes=1.0, oracle=0.5, optimum=1.25)
    for objective, loss in (("risk", 1.5), ("query", 1.5), ("weights", 1.5), ("posterior", 0.5), ("adjusted", 1.0)):
        lines = dict(losses({"loss": loss}, objective, references))
        assert lines["over Bayes"] == "0.5", objective
        assert lines["over the exact optimum"].startswith("0.25 "), objective
    assert "over the exact optimum" not in dict(losses({"loss": 1.0}, "query", References(1.0, 0.5, None)))


def test_progress_is_shown_where_somebody_watches(monkeypatch, capsys):
    model = make_model("lsa", TASK, key=jax.random.key(0))
    monkeypatch.setattr(References, "of", lambda task: References(bayes=1.0, oracle=0.5, optimum=None))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for progress, watched in ((True, False), (False, True), (True, True)):
        if watched:
            monkeypatch.setenv("FORCE_COLOR", "1")
        train(model, TASK, samples=64, random_starts=1, progress=progress)
        shown = capsys.readouterr()
        assert shown.err == "" and ("over Bayes" in shown.out) is (watched and progress)


@pytest.mark.parametrize("solver", ["population", "adam", "lm"])
def test_rows_say_how_far_a_training_is(solver, relaxed, few_draws):
    model = make_model("lsa", TASK, key=jax.random.key(0))
    settings = {
        "population": {"random_starts": 1},
        "adam": {"steps": 4, "chunk": 2, "batch": 8},
        "lm": {"random_starts": 1, "pieces": 1, "most_pieces": 1, "refine_steps": 3, "screen_steps": 2},
    }[solver]
    trainer = make_trainer(model, TASK, choose(model, TASK, solver), key=jax.random.key(1), **settings)
    state, progress = trainer.init(), [0.0]
    while not trainer.finished(state):
        state, rows = trainer.advance(state)
        progress += [row["progress"] for row in rows]
        for row in rows:
            assert where(row)
    assert len(progress) > 2
    assert all(before < after for before, after in pairwise(progress))
    assert progress[-1] <= 1
