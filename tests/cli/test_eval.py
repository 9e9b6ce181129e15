"""`descant eval`: a model on another task than the one it was trained on."""

import json

import numpy as np
import pytest

from descant import GaussianInputs, GaussianPrior, LinearRegression
from descant.attention import load, rescaled
from descant.cli import main
from descant.measure import exact_risk
from tests.support.commands import run

PRIOR = '''
from descant.tasks import AbstractPrior
import jax, numpy as np
from descant.tasks import symmetric_moments

class Coins(AbstractPrior):
    """Signs, each with probability one half."""

    def check(self, d):
        """Any d."""

    def sample(self, d, *, key):
        return jax.random.rademacher(key, (d,), float)

    def moments(self, d):
        return symmetric_moments(np.zeros(d), np.eye(d), None)
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A gd++ network, which reads any d."""
    folder = tmp_path_factory.mktemp("trained") / "made"
    words = "train gd++ --d 2 --n 4 --noise 0.5 --samples 64 --json --out"
    with pytest.raises(SystemExit) as stop:
        main([*words.split(), str(folder)])
    assert not stop.value.code
    return folder


@pytest.fixture
def trained(made, monkeypatch):
    monkeypatch.chdir(made.parent)
    return made


def test_another_length_costs_what_the_exact_risk_says(trained, capsys):
    model = load(trained / "model.safetensors")
    there = LinearRegression(2, 12, noise=0.5)
    asked = ("eval", "made", "--n", "12", "--samples", "64", "--levels", "2", "--json")
    plain, scaled = (json.loads(run(*asked, *more, capsys=capsys)[1])["shift"] for more in ((), ("--rescale",)))
    assert plain["method"] == scaled["method"] == "exact"
    assert plain["risk"] == pytest.approx(exact_risk(model, there), rel=1e-12)
    assert scaled["risk"] == pytest.approx(exact_risk(rescaled(model, 4, 12), there), rel=1e-12)
    assert scaled["risk"] < plain["risk"]
    assert plain["task"]["n"] == 12 and scaled["rescaled"] and not plain["rescaled"]


@pytest.mark.parametrize(
    ("flags", "task"),
    [
        (("--prior-mean", "0,3"), LinearRegression(2, 4, GaussianPrior([0, 3], np.eye(2)), noise=0.5)),
        (("--input-spectrum", "3,2"), LinearRegression(2, 4, inputs=GaussianInputs(np.diag([3, 2])), noise=0.5)),
        (("--input-condition", "4"), LinearRegression(2, 4, inputs=GaussianInputs.conditioned(2, 4.0), noise=0.5)),
        pytest.param(
            ("--d", "3", "--prior-mean", "2"),
            LinearRegression(3, 4, GaussianPrior.isotropic(3, 2.0), noise=0.5),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_elsewhere_the_risk_is_exact_and_right(trained, flags, task, capsys):
    asked = ("eval", "made", *flags, "--samples", "64", "--levels", "2", "--json")
    status, out, error = run(*asked, capsys=capsys)
    assert status == 0, error
    there = json.loads(out)["shift"]
    assert (there["method"], there["standard_error"]) == ("exact", 0)
    assert there["risk"] == pytest.approx(exact_risk(load(trained / "model.safetensors"), task), rel=1e-12)


def test_the_table_says_exact(trained, capsys):
    status, out, error = run("eval", "made", "--samples", "64", "--levels", "2", capsys=capsys)
    assert status == 0, error
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert len(rows) == 3 and all("exact" in line for line in rows)


def test_other_laws_and_their_table(trained, capsys):
    laws = ("--inputs", "sphere", "--noise", "uniform:2")
    status, shown, _ = run("eval", "made", *laws, "--samples", "64", "--levels", "2", capsys=capsys)
    words = " ".join(shown.split())
    assert status == 0 and "inputs sphere" in words and "uniform:2" in words


def test_code_that_a_run_names_is_imported_only_if_the_user_names_it_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coins.py").write_text(PRIOR)
    task = ("--d", "2", "--n", "4", "--prior", "coins:Coins")
    status, _, error = run("train", "gd++", *task, "--samples", "64", "--out", "made", "--json", capsys=capsys)
    assert status == 0, error
    status, _, error = run("eval", "made", "--samples", "64", capsys=capsys)
    assert status == 2 and "--kinds coins:Coins" in error
    asked = ("eval", "made", "--samples", "64", "--levels", "2", "--json")
    status, out, error = run(*asked, "--kinds", "coins:Coins", capsys=capsys)
    assert status == 0, error
    assert json.loads(out)["method"] == "exact"
