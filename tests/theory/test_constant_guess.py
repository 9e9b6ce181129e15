"""The closed form of a constant guess against tokens, against known minima, and its limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression
from descant.claims.ours.constant_and_mean import explicit, one_head
from descant.measure import token_risks
from descant.tasks import GaussianInputs
from descant.theory import (
    Problem,
    attending_risk,
    best_for_constant,
    constant_guess_risk,
    large_constant_risk,
    saturated_risk,
)
from tests.support.laws import COV, MEAN

TASK = LinearRegression(
    3, 5, GaussianPrior(MEAN, COV), inputs=GaussianInputs(COV @ COV + np.eye(3)), noise=FixedNoise(0.7)
)
PROBLEM = Problem.of(TASK)


@pytest.mark.parametrize("query_masked", [True, False])
def test_the_closed_form_is_the_risk_on_tokens(query_masked):
    tensor = 0.1 * jax.random.normal(jax.random.key(5), (4, 4, 4))
    layer = explicit(np.asarray(tensor), 1.7)
    layer = type(layer)(layer.v, layer.u, layer.guess, query_masked)
    (found,) = token_risks([layer], TASK, samples=200_000, key=jax.random.key(1))
    exact = float(constant_guess_risk(PROBLEM, tensor, 1.7, query_masked=query_masked))
    assert abs(found.value - exact) < 4 * found.standard_error < 0.05 * exact


def test_minima_that_are_known():
    """Masked, a constant adds c^2 dist^2 to the risk of d + 1 heads; with c = 0 it is that of no guess."""
    problem = Problem(jnp.ones(3), jnp.eye(3), jnp.eye(3), 4, sigma=0.0)
    for c in (0.0, 0.5, 3.0):
        found, tensor = best_for_constant(problem, c)
        np.testing.assert_allclose(found, saturated_risk(problem) + c**2 * 2 / (3 * 4 + 2), rtol=1e-10)
        np.testing.assert_allclose(constant_guess_risk(problem, jnp.asarray(tensor), c), found, rtol=1e-12)
    found, tensor = best_for_constant(PROBLEM, 0.0, query_masked=False)
    np.testing.assert_allclose(attending_risk(PROBLEM, jnp.zeros(3), jnp.asarray(tensor[:3])), found, rtol=1e-10)


def test_no_step_away_from_the_minimum_is_better():
    least, tensor = best_for_constant(PROBLEM, 4.0, query_masked=False)
    for seed in range(20):
        step = 1e-3 * np.random.default_rng(seed).standard_normal(tensor.shape)
        assert constant_guess_risk(PROBLEM, jnp.asarray(tensor + step), 4.0, query_masked=False) > least


def test_one_head_predicts_with_the_prior_mean():
    for c in (2.0, 50.0):
        head = one_head(PROBLEM, c)
        merged = jnp.einsum("hi,hjl->lij", head.v, head.u)
        exact = constant_guess_risk(PROBLEM, merged, c, query_masked=False)
        np.testing.assert_allclose(large_constant_risk(PROBLEM, c), exact, rtol=1e-10)
    least = best_for_constant(PROBLEM, 1e3, query_masked=False)[0]
    assert PROBLEM.signal < least < large_constant_risk(PROBLEM, 1e3) < PROBLEM.signal * (1 + 1e-3)
