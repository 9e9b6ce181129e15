"""The examples of laws, tasks and estimators of one's own, run as their users would."""

import importlib.util
import json
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
NAMES = ["student_t_prior", "log_uniform_noise", "nonlinear_task", "shrunk_estimator"]


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


@pytest.mark.parametrize("name", NAMES)
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
