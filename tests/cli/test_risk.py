"""The command line, as a user runs it."""

import json
import os
import subprocess
import sys

import pytest

from descant.cli._closed import Question, closed_answer
from descant.cli._risk import REFERENCES, measured_answer
from descant.cli._task import TaskFlags
from tests.support.commands import fresh, run


def risk_of(*arguments: str, capsys) -> dict:
    status, out, err = run("risk", *arguments, "--json", capsys=capsys)
    assert status == 0, err
    return json.loads(out)


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


FIVE = ("--d", "5", "--n", "5", "--prior-mean", "1", "--noise", "0")
TEN = ("--d", "10", "--n", "10", "--prior-mean", "1", "--noise", "0")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gd-beta", 30 / 11),
        ("ltb", 30 / 11),
        ("yq-lsa", 30 / 11),
        ("lsa", 4.5566),
        ("preconditioned-gd", 4.8370),
        ("gd", 5.4545),
        ("zero", 10.0),
    ],
)
def test_risks_at_five(name, expected, capsys):
    found = risk_of(name, *FIVE, capsys=capsys)
    assert found["method"] == "exact" and found["standard_error"] == 0 and found["name"] == name
    assert found["risk"] == pytest.approx(expected, abs=6e-5)
    assert found["adjusted"] == pytest.approx(expected, abs=6e-5)  # the oracle knows everything: n = d, no noise
    assert found["task"] == {
        "d": 5, "n": 5, "prior": "gaussian", "prior_mean": 1.0, "prior_scale": 1.0, "inputs": "gaussian",
        "input_condition": 1.0, "input_spectrum": None, "noise": "0", "label_noise": "gaussian", "task": None,
    }  # fmt: skip


@pytest.mark.parametrize(("heads", "expected"), [(1, 7.6879), (2, 6.3776), (3, 5.9782), (10, 5.4342), (14, 5.4342)])
def test_heads_at_ten(heads, expected, capsys):
    found = risk_of("multi-head-lsa", *TEN, "--heads", str(heads), capsys=capsys)
    assert found["risk"] == pytest.approx(expected, abs=6e-5)
    assert found["method"] == "exact" and found["heads"] == heads


@pytest.mark.slow
def test_more_values(capsys):
    """With noise, anisotropy, a query that attends."""
    assert risk_of("yq-lsa", *TEN, capsys=capsys)["risk"] == pytest.approx(5.2381, abs=6e-5)
    noisy = ("--d", "10", "--n", "20", "--prior-mean", "1", "--noise", "1", "--samples", "2048")
    assert risk_of("lsa", *noisy, capsys=capsys)["risk"] == pytest.approx(5.3705, abs=6e-5)
    assert risk_of("ltb", *noisy, capsys=capsys)["risk"] == pytest.approx(3.75, abs=1e-9)
    attends = risk_of("multi-head-lsa", *TEN, "--query-attends", capsys=capsys)
    assert attends["risk"] == pytest.approx(5.78963, abs=1e-5) and attends["query_masked"] is False
    # phi_i of the whitened prior are the input eigenvalues: sum phi (phi + s) / ((n+1) phi + s), by hand.
    eigenvalues = [1.0, 10**-0.5, 0.1]
    scale = 3 / sum(eigenvalues)
    phi = [4 * scale * e for e in eigenvalues]
    s = sum(phi) + 0.25
    by_hand = sum(p * (p + s) / (8 * p + s) for p in phi)
    skewed = ("--d", "3", "--n", "7", "--prior-scale", "2", "--input-condition", "10", "--noise", "0.5")
    assert risk_of("gd-beta", *skewed, "--samples", "2048", capsys=capsys)["risk"] == pytest.approx(by_hand, rel=1e-9)


def test_estimates_carry_their_error(capsys):
    found = risk_of("bayes", "--d", "3", "--n", "6", "--noise", "uniform:2", "--samples", "4096", capsys=capsys)
    assert found["method"] == "moments" and found["standard_error"] > 0 and found["adjusted_standard_error"] > 0
    again = risk_of("bayes", "--d", "3", "--n", "6", "--noise", "uniform:2", "--samples", "4096", capsys=capsys)
    other = risk_of(
        "bayes", "--d", "3", "--n", "6", "--noise", "uniform:2", "--samples", "4096", "--seed", "1", capsys=capsys
    )
    assert again == found and other["risk"] != found["risk"]


def test_methods_agree(capsys):
    task = ("--d", "2", "--n", "5", "--noise", "1,3", "--samples", "20000")
    exact = risk_of("lsa", *task, "--method", "exact", capsys=capsys)["risk"]
    for method in ("moments", "tokens"):
        found = risk_of("lsa", *task, "--method", method, capsys=capsys)
        assert found["method"] == method
        assert abs(found["risk"] - exact) < 4 * found["standard_error"]


def test_laws_by_name(capsys):
    laws = ("--prior", "student-t:3", "--inputs", "sphere", "--input-condition", "4", "--label-noise", "laplace")
    found = risk_of("gd-beta", "--d", "3", "--n", "8", "--noise", "0.7", *laws, capsys=capsys)
    assert found["method"] == "exact" and found["adjusted"] is None and found["adjusted_standard_error"] is None
    status, out, err = run("risk", "gd-beta", "--d", "2", "--n", "5", "--prior", "laplace", capsys=capsys)
    assert status == 0, err
    assert "prior laplace (0, 1)" in out and " - " in out and "not known of bayes" in out


def test_an_infinite_risk_is_valid_json(capsys):
    found = risk_of("ols", "--d", "3", "--n", "4", "--noise", "1", "--samples", "2048", capsys=capsys)
    assert found["risk"] == "Infinity" and float(found["risk"]) == float("inf")


def test_the_table_shows_references(capsys):
    status, out, _ = run("risk", "gd", *FIVE, capsys=capsys)
    assert status == 0
    for word in ("gd", "bayes", "ridge", "zero", "5.45455", "exact", "d = 5"):
        assert word in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("zero", "--d", "0", "--n", "3"), "d is 0; expected a whole number of at least 1."),
        (("zero", "--d", "3", "--n", "0"), "n is 0; expected a whole number of at least 1."),
        (("zero", "--d", "3", "--n", "3", "--noise", "-1"), "noise is -1.0; expected no negative number."),
        (("zero", "--d", "3", "--n", "3", "--noise", "loud"), "noise is 'loud'; expected a level such as 0.5"),
        (("zero", "--d", "3", "--n", "3", "--noise", "nan"), "noise holds NaN or infinity"),
        (("zero", "--d", "3", "--n", "3", "--prior-mean", "nan"), "prior mean holds NaN or infinity"),
        (("zero", "--d", "3", "--n", "3", "--prior-scale", "-1"), "prior scale is -1.0"),
        (("zero", "--d", "3", "--n", "3", "--input-condition", "0"), "input condition is 0.0"),
        (("nobody", "--d", "3", "--n", "3"), "predictor is 'nobody'; expected one of: zero, ols"),
        (("multi-head-lsa", "--d", "3", "--n", "3", "--heads", "0"), "heads is 0"),
        (("zero", "--d", "3", "--n", "3", "--samples", "0"), "samples is 0"),
        (
            ("bayes", "--d", "3", "--n", "3", "--noise", "1", "--method", "exact"),
            "ridge regression has a closed form only",
        ),
        (("ada-ridge", "--d", "3", "--n", "3"), "n is 3 and d is 3; expected n > d"),
        (
            ("zero", "--d", "3", "--n", "3", "--prior", "pareto"),
            "prior is 'pareto'; expected one of: gaussian, mixture",
        ),
        (("zero", "--d", "3", "--n", "3", "--prior", "student-t"), "too few or too many numbers; laws: gaussian"),
        (("zero", "--d", "3", "--n", "3", "--inputs", "sphere:big"), "'big' is no list of numbers"),
        (("zero", "--d", "3", "--n", "3", "--label-noise", "student-t:1"), "degrees of freedom above 2"),
        (("zero", "--d", "3", "--n", "3", "--task", "nowhere:T"), "there is no module 'nowhere'"),
        (("zero", "--d", "3", "--n", "3", "--task", "a:b", "--noise", "1"), "leave out --noise"),
        (("zero", "--d", "three", "--n", "3"), "--d"),
        (("zero", "--n", "3"), "--d"),
        (("zero", "--d", "3", "--n", "3", "--method", "magic"), "--method"),
        (("zero", "--d", "3", "--n", "3", "--colour", "red"), "--colour"),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(arguments, sentence, capsys):
    status, out, err = run("risk", *arguments, capsys=capsys)
    assert status == 2
    assert sentence in err
    assert out == "" and err.count("\n") == 1 and "Traceback" not in err


def test_unknown_command(capsys):
    status, _, err = run("fly", capsys=capsys)
    assert status == 2 and "fly" in err


def test_help_does_not_import_jax():
    code = (
        "import sys\nfrom descant.cli import main\n"
        "try: main([{}])\nexcept SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = [m for m in ('jax', 'equinox', 'numpy', 'scipy', 'matplotlib') if m in sys.modules]\n"
        "assert not heavy, heavy"
    )
    assert "risk" in fresh(code.format("'--help'"))
    assert "--input-condition" in fresh(code.format("'risk', '--help'"))
    assert fresh(code.format("'--version'")).strip()


def test_closed_forms_are_answered_without_jax():
    code = (
        "import sys\nfrom descant.cli import main\n"
        "noisy = 'risk bayes --d 2 --n 3 --noise 1'.split()\n"
        f"for words in (['risk', 'lsa', *{FIVE}], noisy, ['claims']):\n"
        "    try: main(words)\n    except SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = ('jax', 'equinox', 'scipy.optimize', 'scipy.special', 'matplotlib', 'duckdb', 'pyarrow', 'torch')\n"
        "assert not (loaded := [name for name in heavy if name in sys.modules]), loaded"
    )
    out = fresh(code)
    assert "4.55658" in out and "gd-beta-optimum" in out


@pytest.mark.parametrize("name", ["lsa", "gd", "ltb", "bayes", "ridge", "zero"])
def test_closed_answers_are_the_measured_ones(name):
    for noise in ("0", "0.5"):
        flags = TaskFlags(d=3, n=4, prior_mean=1.0, prior_scale=2.0, input_condition=3.0, noise=noise)
        asked = Question(name, flags, None, True, "auto", 64, 7)
        closed, measured = closed_answer(asked, REFERENCES), measured_answer(asked, REFERENCES)
        assert closed is not None
        assert [name for name, _ in closed.beside] == [name for name, _ in measured.beside]
        pairs = [(closed.found, measured.found)]
        pairs += [(ours, theirs) for (_, ours), (_, theirs) in zip(closed.beside, measured.beside, strict=True)]
        for ours, theirs in pairs:
            assert ours.method == theirs.method
            for field in ("value", "standard_error", "adjusted", "adjusted_error"):
                assert getattr(ours, field) == pytest.approx(getattr(theirs, field), rel=1e-11, abs=1e-13), field


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "tuned-ridge"}, {"name": "nobody"}, {"heads": 0}, {"heads": 2}, {"method": "moments"}, {"samples": 1},
        {"seed": -1}, {"name": "gd", "query_masked": False}, {"name": "bayes", "method": "exact"},
        {"task": TaskFlags(d=3, n=4, prior="laplace")}, {"task": TaskFlags(d=3, n=4, noise="1,3")},
        {"task": TaskFlags(d=3, n=4, prior_mean=float("nan"))}, {"task": TaskFlags(d=0, n=4)},
        {"task": TaskFlags(d=3, n=4, prior_scale=1e200)}, {"task": TaskFlags(d=10**6, n=4)},
        {"task": TaskFlags(d=3, n=4, task="mine:Task")}, {"task": TaskFlags(d=3, n=4, input_condition=0.5)},
    ],
)  # fmt: skip
def test_what_closed_forms_do_not_know_is_left_to_the_others(changed):
    asked = Question("lsa", TaskFlags(d=3, n=4, noise="0.5"), None, True, "auto", 64, 0)
    assert closed_answer(asked, ()) is not None
    assert closed_answer(asked._replace(**changed), REFERENCES) is None


def test_the_installed_command_runs():
    script = os.path.join(os.path.dirname(sys.executable), "descant")
    done = subprocess.run([script, "risk", "zero", *FIVE, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["risk"] == 10.0
