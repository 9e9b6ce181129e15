"""The examples of laws, tasks and estimators of one's own, run as their users would."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import jax
import numpy as np
import pytest

from descant import LinearRegression, best, risk
from descant.tasks import LogUniformNoise, StudentTPrior, Unknown
from tests.support import ROOT

EXAMPLES = ROOT / "examples"
PAGES = ROOT / "docs" / "howto"
NAMES = ["student_t_prior", "log_uniform_noise", "nonlinear_task", "shrunk_estimator"]
# The scripts of the how-tos; the others are run, as they are printed, while the site is built (tests/site).
HOWTOS = {page.stem: re.findall(r'--8<-- "examples/(\w+)\.py"', page.read_text()) for page in PAGES.glob("*.md")}
NOT_BUILT = {"to_pytorch": "torch", "on_a_cluster": "ray", "on_a_gpu": "jax"}


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(name: str) -> list[str]:
    return re.findall(r"^    descant (risk .*)$", (EXAMPLES / f"{name}.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_the_docstring(name):
    """As typed in the examples' folder."""
    assert commands(name)
    for command in commands(name):
        words = [sys.executable, "-m", "descant", *command.split(), "--samples", "2048", "--json"]
        done = subprocess.run(words, cwd=EXAMPLES, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["risk"] > 0


def test_every_how_to_has_one_script():
    scripts = {page: found for page, found in HOWTOS.items() if page != "index"}
    assert len(scripts) >= 9 and all(len(found) == 1 for found in scripts.values()), scripts
    for page, (script,) in scripts.items():  # whoever copies it sees what to call it
        assert (
            f'``` {{.python title="{script}.py"}}\n--8<-- "examples/{script}.py"' in (PAGES / f"{page}.md").read_text()
        )
    run = [page for page in scripts if (PAGES / f"{page}.md").read_text().startswith("---\nrun: true\n")]
    assert {scripts[page][0] for page in set(scripts) - set(run)} == set(NOT_BUILT)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_BUILT)
def test_scripts_that_the_site_does_not_run(name, tmp_path):
    pytest.importorskip(NOT_BUILT[name])
    words = [sys.executable, str(EXAMPLES / f"{name}.py"), *(["4"] if name == "on_a_gpu" else [])]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = {"to_pytorch": r"difference \d\.\de-1\d\b", "on_a_cluster": ", 0 failed", "on_a_gpu": "steps/s"}
    assert re.search(expected[name], done.stdout), done.stdout


@pytest.mark.parametrize("name", [*NAMES, *(found[0] for found in HOWTOS.values() if found)])
def test_they_are_short(name):
    text = (EXAMPLES / f"{name}.py").read_text()
    assert text.count("\n") <= 40 and "._" not in text.replace("self._", "")


def test_a_prior_of_ones_own_equals_ours():
    heavy = example("student_t_prior").HeavyTails
    for df in (5.0, 3.0):
        own = LinearRegression(3, 8, heavy(df, mean=1.0), noise=0.7)
        ours = LinearRegression(3, 8, StudentTPrior.isotropic(3, df, 1.0), noise=0.7)
        for name in ("gd-beta", "lsa"):
            if df == 3 and name == "lsa":
                with pytest.raises(Unknown, match="the fourth moment of HeavyTails is not finite or not known"):
                    best(name, own)
                continue
            found = risk(best(name, own), own)
            assert found.method == "exact" and found.adjusted is None
            assert found.value == pytest.approx(risk(best(name, ours), ours, samples=64).value, rel=1e-9)
    own = LinearRegression(3, 8, heavy(12.0, mean=1.0), noise=0.7)
    lsa = best("lsa", own)
    sampled = risk(lsa, own, "tokens", samples=1 << 14)
    assert abs(sampled.value - risk(lsa, own).value) < 5 * sampled.standard_error


def test_a_noise_law_of_ones_own_equals_ours():
    own = LinearRegression(3, 8, noise=example("log_uniform_noise").LogUniform(0.1, 3.0))
    ours = LinearRegression(3, 8, noise=LogUniformNoise(0.1, 3.0))
    assert risk(best("lsa", own), own, samples=64).value == pytest.approx(
        risk(best("lsa", ours), ours, samples=64).value, rel=1e-12
    )
    moments = ours.sample_moments(key=jax.random.key(0))
    np.testing.assert_allclose(own.posterior(moments).mean, ours.posterior(moments).mean, rtol=1e-10)


def descant(*arguments: str, **variables: str) -> str:
    """The command, typed in the examples' folder."""
    words = [sys.executable, "-m", "descant", *arguments]
    environment = {**os.environ, **variables}
    done = subprocess.run(words, cwd=EXAMPLES, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_all_of_them_in_one_page_of_the_report(tmp_path):
    descant("reproduce", "all-together", "--out", str(tmp_path), DESCANT_CLAIMS="all_together")
    assert "all-together" in (tmp_path / "index.html").read_text()
    verdict = json.loads((tmp_path / "verdicts.json").read_text())
    assert [each["verdict"] for each in verdict if each["id"] == "all-together"] == ["holds"]
    page = next(path for path in tmp_path.rglob("*.html") if "all-together" in path.name)
    for shown in ("gated", "shrunk least squares", "zero on squares", "Examples"):
        assert shown in page.read_text()


@pytest.mark.slow
def test_an_own_layer_by_an_own_trainer_under_own_laws_from_the_command_line(tmp_path):
    own = ("gated_attention:Gated", "student_t_prior:HeavyTails", "log_uniform_noise:LogUniform")
    laws = ("--d", "2", "--n", "5", "--prior", f"{own[1]}:9", "--noise", f"{own[2]}:0.1,1")
    how = (
        "--solver",
        "sgd_trainer:SGD",
        "--steps",
        "20",
        "--samples",
        "256",
        "--out",
        str(tmp_path / "made"),
        "--json",
    )
    trained = json.loads(descant("train", own[0], *laws, *how))
    assert trained["stopped"] == "step limit of 20" and trained["risk"] > 0
    asked = ("eval", str(tmp_path / "made"), "--samples", "256", "--levels", "2", "--json")
    measured = json.loads(descant(*asked, *(word for name in own for word in ("--kinds", name))))
    assert measured["method"] == "tokens" and len(measured["levels"]) == 2
    assert own[0] in descant("runs", "--root", str(tmp_path), "--json")
