"""Every field of every law is checked, in Python."""

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from descant import (
    CategoricalNoise,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    Prompt,
    UniformInputs,
    UniformNoise,
)
from descant.estimators import GD, ConstRidge, GDBeta, GDPlusPlus, OracleRidge, PreconditionedGD, TunedRidge
from descant.tasks import parse_noise
from descant.theory import Problem

NAN = float("nan")
EYE = np.eye(2)
PRIOR = GaussianPrior([0.0, 0.0], EYE)

MISTAKES = {
    "d = 0": (lambda: LinearRegression(0, 3), "d is 0; expected a whole number of at least 1"),
    "n = 0": (lambda: LinearRegression(3, 0), "n is 0; expected a whole number of at least 1"),
    "negative noise": (lambda: FixedNoise(-1.0), "noise.sigma is -1.0; expected no negative number"),
    "NaN noise": (lambda: FixedNoise(NAN), "noise.sigma holds NaN or infinity"),
    "noise of wrong shape": (lambda: FixedNoise(np.ones(2)), "noise.sigma has shape (2,)"),
    "uniform noise to 0": (lambda: UniformNoise(0.0), "noise.high is 0.0; expected a positive number"),
    "uniform noise to NaN": (lambda: UniformNoise(NAN), "noise.high holds NaN"),
    "no levels": (lambda: CategoricalNoise([]), "expected a list of at least one level"),
    "negative level": (lambda: CategoricalNoise([1.0, -1.0]), "noise.sigmas is [1.0, -1.0]"),
    "weights that don't sum": (lambda: CategoricalNoise([1.0, 2.0], [0.5, 0.4]), "noise.weights sum to 0.9"),
    "weights of wrong shape": (lambda: CategoricalNoise([1.0, 2.0], [1.0]), "noise.weights has shape (1,)"),
    "NaN mean": (lambda: GaussianPrior([NAN, 0.0], EYE), "prior.mean holds NaN or infinity"),
    "mean of wrong shape": (lambda: GaussianPrior([1.0], EYE), "prior.mean has shape (1,); expected (2,)"),
    "prior not square": (lambda: GaussianPrior([0.0, 0.0], np.ones((2, 3))), "expected a square matrix"),
    "prior not symmetric": (lambda: GaussianPrior([0.0, 0.0], [[1.0, 1.0], [0.0, 1.0]]), "prior.cov is not symmetric"),
    "prior not semi-definite": (
        lambda: GaussianPrior([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]),
        "prior.cov is not positive semi-definite: its least eigenvalue is -1; expected >= 0",
    ),
    "inputs not semi-definite": (lambda: GaussianInputs(-EYE), "inputs.cov is not positive semi-definite"),
    "NaN inputs": (lambda: GaussianInputs([[NAN]]), "inputs.cov holds NaN or infinity"),
    "inputs of wrong shape": (
        lambda: LinearRegression(3, 4, inputs=GaussianInputs(EYE)),
        "inputs.cov has shape (2, 2); expected (3, 3), because d = 3",
    ),
    "prior of wrong shape": (lambda: LinearRegression(3, 4, PRIOR), "prior.mean has shape (2,); expected (3,)"),
    "empty uniform inputs": (lambda: UniformInputs(1.0, 1.0), "expected low < high"),
    "condition below 1": (lambda: GaussianInputs.conditioned(3, 0.5), "input condition is 0.5"),
    "negative scale": (lambda: GaussianPrior.isotropic(3, 0.0, -1.0), "prior scale is -1.0"),
    "noise spec": (lambda: parse_noise("loud"), "noise is 'loud'; expected a level such as 0.5"),
    "noise spec with a wrong kind": (lambda: parse_noise("normal:1"), "noise is 'normal:1'"),
    "noise spec with two tops": (lambda: parse_noise("uniform:1,2"), "noise is 'uniform:1,2'"),
    "empty noise spec": (lambda: parse_noise(""), "noise is ''"),
    "trailing comma": (lambda: parse_noise("1,"), "noise is '1,'"),
    "gamma not square": (lambda: PreconditionedGD(np.ones((2, 3))), "gamma has shape (2, 3)"),
    "beta of wrong shape": (lambda: GDBeta(np.ones(3), EYE), "beta has shape (3,); expected (2,)"),
    "NaN gamma": (lambda: GDBeta(np.ones(2), NAN * EYE), "gamma holds NaN"),
    "scalar steps": (lambda: GD(np.zeros(2), 0.1), "expected a vector of d numbers and a list of k step sizes"),
    "uneven layers": (lambda: GDPlusPlus([0.1, 0.2], [0.1]), "contractions has shape (1,); expected (2,)"),
    "negative ridge": (lambda: ConstRidge(PRIOR, -1.0), "variance is -1.0"),
    "negative ceiling": (lambda: TunedRidge(PRIOR, 1.0, -1.0), "ceiling is -1.0"),
    "oracle without sigma": (
        lambda: OracleRidge(PRIOR)(Prompt(jnp.ones((3, 2)), jnp.ones(3), jnp.ones(2))),
        "moments.sigma is None",
    ),
    "problem without noise": (lambda: Problem(np.zeros(2), EYE, EYE, 3), "noise is given twice or in part"),
    "problem with both": (
        lambda: Problem(np.zeros(2), EYE, EYE, 3, sigma=1.0, noise2=1.0, noise4=1.0),
        "noise is given twice or in part",
    ),
    "problem with negative noise": (lambda: Problem(np.zeros(2), EYE, EYE, 3, sigma=-1.0), "sigma is -1.0"),
    "problem with a bad matrix": (lambda: Problem(np.zeros(2), -EYE, EYE, 3, sigma=1.0), "cov is not positive"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_clear_sentence(mistake):
    call, sentence = MISTAKES[mistake]
    with pytest.raises(ValueError) as error:
        call()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_rounding_is_forgiven():
    """A covariance computed as A A^T is symmetric and semi-definite only up to rounding."""
    a = np.random.default_rng(0).standard_normal((5, 2))
    cov = a @ a.T
    cov[0, 1] += 1e-15
    GaussianPrior(np.zeros(5), cov)


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        ("(4, 3, 2)", "(4, 3)", "Map over batches of prompts with jax.vmap"),
        ("(3, 2)", "4", "y has shape (4,); expected (3,)"),
    ],
)
def test_prompts_of_wrong_shape(x, y, sentence):
    """In an interpreter of its own: here the run-time type checker would speak first."""
    code = f"import jax.numpy as jnp, descant; descant.Prompt(jnp.ones({x}), jnp.ones({y}), jnp.ones(2))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ValueError" in done.stderr and sentence in done.stderr


WRONG_SORTS = """
import jax, numpy as np
from descant import LinearRegression, estimators, risk
from descant.measure import exact_risk

assert float(LinearRegression(3, 5, noise=np.float32(0.5)).noise.sigma) == 0.5
wide = LinearRegression(3, 6, noise=0.5)
prompt = LinearRegression(2, 6, noise=0.5).sample(key=jax.random.key(0))
eye = np.eye(3)
wrong = [
    *(lambda part=part, value=value: LinearRegression(3, 5, **{part: value})
      for part in ("prior", "inputs", "noise", "labels") for value in ("gaussian", [1.0, 3.0], {}, object)),
    *(lambda size=size: LinearRegression(size, 5) for size in (2.0, "3", None, True, -1)),
    lambda: LinearRegression(10**6, 5),
    lambda: risk(estimators.Zero(), wide, "magic"),
    lambda: risk(estimators.Zero(), wide, samples=1.5),
    *(lambda made=made, ask=ask: ask(made)
      for made in (
          estimators.PreconditionedGD(eye), estimators.GDBeta(np.ones(3), eye), estimators.GD(np.zeros(3), [0.1, 0.1]),
          estimators.GramAffine(np.zeros(3), np.zeros((3, 4, 4))), estimators.OracleRidge.of(wide),
          estimators.Bayes.of(wide),
      )
      for ask in (lambda made: made(prompt), lambda made: exact_risk(made, LinearRegression(2, 6, noise=0.5)))),
]
for index, call in enumerate(wrong):
    try:
        call()
    except ValueError as error:
        assert 0 < len(str(error)) < 300 and "\\n" not in str(error), (index, error)
    else:
        raise AssertionError(f"number {index} was taken")
"""


def test_wrong_sorts_and_other_dimensions_are_one_sentence():
    """In an interpreter of its own: here the run-time type checker would speak first."""
    done = subprocess.run([sys.executable, "-c", WRONG_SORTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
