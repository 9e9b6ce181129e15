"""`descant eval`: a model on another task than the one it was trained on."""

import json

import pytest

from descant import LinearRegression
from descant.attention import load, rescaled
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


@pytest.fixture
def trained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    task = ("--d", "2", "--n", "4", "--noise", "0.5")
    status, _, error = run("train", "gd++", *task, "--samples", "64", "--out", "made", "--json", capsys=capsys)
    assert status == 0, error
    return tmp_path / "made"


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
