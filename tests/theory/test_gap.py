"""The gap of LSA to one step of descent, and how many heads close what of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.attention import gram_affine_as_lsa
from descant.estimators import GramAffine
from descant.tasks import FixedNoise
from descant.theory import (
    Problem,
    best_heads,
    gd_beta_minimum,
    gram_risk,
    heads_needed,
    lsa_gap_bounds,
    multi_head_lsa_risk,
    one_head_isotropic_minimum,
    optimal_gamma,
    saturated_gap,
    saturated_risk,
    yq_lsa_risk,
    zero_risk,
)
from tests.support.problems import random_problem, random_task
from tests.support.quick import quick
from tests.support.theory_problems import PROBLEMS, isotropic, lowest_of_restarts


@pytest.mark.parametrize("name", quick(PROBLEMS))
def test_ltb_and_yq_lsa_are_gd_beta(name):
    problem = PROBLEMS[name]
    minimum = float(gd_beta_minimum(problem))
    np.testing.assert_allclose(best_heads(problem, 1, free_offset=True).risk, minimum, rtol=1e-9)
    np.testing.assert_allclose(best_heads(problem, problem.d + 1, free_offset=True).risk, minimum, rtol=1e-9)
    # The explicit weights: v = (-w0, 1), U = [Gamma^T 0; 0 0], guess w0. Exact for any w0 and Gamma, optimal at mu.
    gamma = optimal_gamma(problem, problem.mean)
    v = jnp.append(-problem.mean, 1.0)
    u = jnp.zeros((problem.d + 1, problem.d + 1)).at[:-1, :-1].set(gamma.T)
    np.testing.assert_allclose(yq_lsa_risk(problem, v, u, problem.mean), minimum, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(PROBLEMS))
def test_the_gap_is_what_the_best_linear_function_of_the_gram_loses(name):
    """The closed form against plain least squares over all tensors (autodiff Hessian of the quadratic risk)."""
    problem = PROBLEMS[name]
    d = problem.d
    shape = (d, d + 1, d + 1)

    def risk(flat):
        return gram_risk(problem, jnp.zeros(d), flat.reshape(shape))

    zero = jnp.zeros(int(np.prod(shape)))
    hessian, gradient = np.asarray(jax.hessian(risk)(zero)), np.asarray(jax.grad(risk)(zero))
    least = float(risk(zero)) - gradient @ np.linalg.pinv(hessian, rcond=1e-11, hermitian=True) @ gradient / 2
    np.testing.assert_allclose(saturated_risk(problem), least, rtol=1e-8)


def test_gap_of_the_notes():
    np.testing.assert_allclose(saturated_gap(isotropic(10, 10, 1.0)), 0.019608 * 10, atol=1e-5)
    three = Problem(jnp.full(3, 3.0), jnp.eye(3), jnp.eye(3), 3, sigma=2**0.5)
    np.testing.assert_allclose(saturated_gap(three), 4.768, atol=6e-4)
    np.testing.assert_allclose(best_heads(three, 3).risk - gd_beta_minimum(three), 4.833, atol=6e-4)
    assert heads_needed(three) == 4
    assert heads_needed(Problem(jnp.ones(3), jnp.eye(3), jnp.eye(3), 3, sigma=2**0.5)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", quick(range(3)))
def test_heads_needed_is_where_the_curve_saturates(seed):
    """Anisotropic problems, the mean growing: d heads do, then they don't."""
    task = random_task(seed, noise=FixedNoise(1.6))
    needed = []
    for scale in (0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0):
        problem = Problem(scale * task.prior.mean, task.prior.cov, task.inputs.second_moment(3), task.n, sigma=1.6)
        lost = best_heads(problem, 3).risk - float(saturated_risk(problem))
        needed.append(heads_needed(problem))
        assert (lost > 1e-9 * scale**2) == (needed[-1] == 4), (scale, lost)
    assert needed[0] == 3 and needed[-1] == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", quick(range(3)))
def test_the_shift_lemma(seed):
    """A fixed guess w0 on prior mean mu is no guess on prior mean mu - w0, for any number of heads."""
    problem = random_problem(seed)
    w0 = jnp.asarray(np.random.default_rng(seed).standard_normal(3))
    shifted = Problem(
        problem.mean - w0, problem.cov, problem.inputs, problem.n, noise2=problem.noise2, noise4=problem.noise4
    )
    np.testing.assert_allclose(saturated_gap(problem, w0), saturated_gap(shifted), rtol=1e-10)
    for heads in (1, 2):
        lowest = lowest_of_restarts(
            lambda v, u: gram_risk(problem, w0, jnp.einsum("hi,hjl->lij", v, u)), [(heads, 4), (heads, 4, 3)], 10
        )
        np.testing.assert_allclose(best_heads(shifted, heads).risk, lowest, rtol=1e-5)


@pytest.mark.slow
def test_minima_do_not_depend_on_the_unit_of_labels():
    """Labels in other units are the same problem: risks scale with the square, weights find the same minimum."""
    for masked in (True, False):
        found = []
        for unit in (1.0, 1e-3, 1e3):
            mean, cov = unit * np.array([1.0, 0.5, 2.0]), unit**2 * np.diag([1.0, 2.0, 0.5])
            problem = Problem(mean, cov, np.eye(3), 6, sigma=0.5 * unit)
            solution = best_heads(problem, 1, query_masked=masked)
            v, u = jnp.asarray(solution.v), jnp.asarray(solution.u)
            np.testing.assert_allclose(
                multi_head_lsa_risk(problem, v, u, query_masked=masked), solution.risk, rtol=1e-9
            )
            found.append(solution.risk / unit**2)
        np.testing.assert_allclose(found, found[0], rtol=1e-9)


def test_heads_needed_without_a_mean():
    assert heads_needed(isotropic(4, 6, 0.0, 1.0)) == 1


def test_explicit_heads_are_the_merged_weights():
    problem = random_problem(0)
    found = best_heads(problem, 4)
    explicit = gram_affine_as_lsa(GramAffine(jnp.zeros(found.tensor.shape[0]), found.tensor))
    v, u = explicit.v, explicit.u[:, :, :-1]
    np.testing.assert_allclose(multi_head_lsa_risk(problem, v, u), saturated_risk(problem), rtol=1e-9)
    np.testing.assert_allclose(multi_head_lsa_risk(problem, jnp.asarray(found.v), jnp.asarray(found.u)), found.risk)


@pytest.mark.parametrize("seed", range(5))
def test_the_proved_gap_bound_holds_and_the_printed_one_does_not(seed):
    problem = random_problem(seed)
    gap = best_heads(problem, 1).risk - float(gd_beta_minimum(problem))
    bounds = lsa_gap_bounds(problem)
    assert float(bounds.simple) <= float(bounds.proved) * (1 + 1e-12)
    assert float(bounds.proved) <= gap


def test_counterexample_to_the_printed_bound():
    problem = isotropic(50, 5, 1.0)
    bounds = lsa_gap_bounds(problem)
    gap_of_zero = float(zero_risk(problem) - gd_beta_minimum(problem))
    np.testing.assert_allclose(bounds.printed, 69.4, atol=0.05)
    np.testing.assert_allclose(gap_of_zero, 54.5, atol=0.1)
    true_gap = one_head_isotropic_minimum(50, 5, 50**0.5, 1.0, 0.0) - float(gd_beta_minimum(problem))
    np.testing.assert_allclose(true_gap, 15.23, atol=0.01)
    assert float(bounds.proved) < true_gap < gap_of_zero < float(bounds.printed)
