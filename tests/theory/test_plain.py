"""Closed forms in NumPy: the same numbers as through tasks and predictors, without JAX."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression, best, risk
from descant.forms import PlainProblem, best_gaussian_heads, best_of_form, least_risk, oracle_risk
from descant.forms._problem import Whitened
from descant.forms._quadratic import GaussianForm

SKEWED = np.array([[2.0, 0.5, 0], [0.5, 1, 0.3], [0, 0.3, 0.5]])
PROBLEMS = {
    "isotropic": (np.ones(4), np.eye(4), np.eye(4), 4, 0.5),
    "without noise, short": (-2 * np.ones(4), 0.25 * np.eye(4), np.eye(4), 3, 0.0),
    "skewed": (np.array([1.0, 0, -1]), SKEWED @ SKEWED, SKEWED, 7, 0.7),
    "two levels, long": (np.array([0.1, -0.3, 0, 0.2, 1]), 3 * np.eye(5), 2 * np.eye(5), 40, 1.5),
    "without a mean": (np.zeros(3), 2 * np.eye(3), np.eye(3), 9, 1.0),
}


def posed(name: str) -> tuple[PlainProblem, LinearRegression]:
    mean, cov, inputs, n, sigma = PROBLEMS[name]
    task = LinearRegression(mean.size, n, GaussianPrior(mean, cov), GaussianInputs(inputs), FixedNoise(sigma))
    return PlainProblem(mean, cov, inputs, n, np.float64(sigma**2), np.float64(sigma**4)), task


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_least_risk_of_a_class_is_the_risk_of_its_best_member(name):
    problem, task = posed(name)
    for estimator in ("zero", "ols", "gd", "preconditioned-gd", "gd-beta", "lsa", "multi-head-lsa", "yq-lsa", "ltb"):
        measured = risk(best(estimator, task), task, "exact").value
        np.testing.assert_allclose(least_risk(estimator, problem), measured, rtol=1e-11, atol=1e-13, err_msg=estimator)


@pytest.mark.parametrize("estimator", ["lsa", "multi-head-lsa", "yq-lsa", "ltb"])
def test_the_same_where_the_query_attends(estimator):
    problem, task = posed("without a mean")
    measured = risk(best(estimator, task, query_masked=False), task, "exact").value
    np.testing.assert_allclose(least_risk(estimator, problem, query_masked=False), measured, rtol=1e-11)


@pytest.mark.parametrize("heads", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["isotropic", "without noise, short", "without a mean", "two levels, long"])
def test_heads_without_a_search_are_what_the_search_finds(name, heads):
    problem, _ = posed(name)
    if name == "two levels, long":
        problem = replace(problem, noise4=2 * problem.noise4)
    searched = best_of_form(GaussianForm(Whitened.of(problem), True, False), heads)
    found = best_gaussian_heads(problem, heads)
    assert found.gradient < 1e-10
    np.testing.assert_allclose(found.risk, searched.risk, rtol=1e-12)
    assert found.v.shape == (heads, problem.d + 1)


@pytest.mark.parametrize("name", ["isotropic", "skewed"])
def test_the_oracle_is_the_same_whoever_draws_the_contexts(name):
    problem, task = posed(name)
    value, error = oracle_risk(problem, samples=8192, entropy=(0, 0))
    other = risk(best("ridge", task), task, "moments", samples=8192)
    assert abs(value - other.value) < 4 * np.hypot(error, other.standard_error)
    np.testing.assert_allclose(error, other.standard_error, rtol=0.2)
    assert oracle_risk(problem, samples=8192, entropy=(0, 1))[0] != value


def test_the_oracle_of_a_short_context_without_noise_that_is_drawn():
    """Not isotropic, so there is no closed form: directions that the context says nothing of keep their variance."""
    scales = np.array([4.0, 1.0, 0.25])
    problem = PlainProblem(np.zeros(3), np.eye(3), np.diag(scales), 1, np.float64(0), np.float64(0))
    value, error = oracle_risk(problem, samples=20_000, entropy=(0, 0))
    x = np.random.default_rng(3).standard_normal((20_000, 3)) * np.sqrt(scales)
    by_hand = scales.sum() - np.sum(x**2 * scales, axis=1) / np.sum(x**2, axis=1)
    assert abs(value - by_hand.mean()) < 4 * np.hypot(error, by_hand.std() / 20_000**0.5)


def test_formulas_take_arrays_of_jax_as_they_are():
    problem, task = posed("skewed")
    merged = best("gd-beta", task).gram_affine(task.d, task.n)
    assert isinstance(merged.tensor, np.ndarray)
    from descant.theory import Problem, gram_risk

    traced = gram_risk(Problem.of(task), jnp.asarray(merged.offset), jnp.asarray(merged.tensor))
    assert not isinstance(traced, (float, np.generic))
    np.testing.assert_allclose(traced, gram_risk(problem, merged.offset, merged.tensor), rtol=1e-13)
