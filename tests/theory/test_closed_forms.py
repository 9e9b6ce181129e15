"""Closed forms against each other, against the numbers of the notes, and as minima: stationary and not to be beaten."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.tasks import FixedNoise, LinearRegression
from descant.theory import (
    Problem,
    attending_risk,
    best_heads,
    gd_beta_minimum,
    gd_beta_risk,
    gd_risk,
    gram_risk,
    heads_needed,
    lsa_risk,
    ltb_risk,
    multi_head_lsa_risk,
    noiseless_oracle_risk,
    one_head_isotropic_minimum,
    one_step_risk,
    optimal_gamma,
    optimal_step,
    saturated_gap,
    saturated_risk,
    yq_lsa_risk,
    zero_risk,
)
from tests.support.problems import random_problem, random_task
from tests.support.quick import quick
from tests.support.theory_problems import PROBLEMS, isotropic, lowest_of_restarts

# d, n, mean, sigma: LTB = GD-beta, LSA, GD-0, zero (ltb.md, section 3; less sigma^2, which the notes' table counts)
TABLE = [
    (5, 5, 0, 0, 2.7273, 2.7273, 2.7273, 5),
    (5, 5, 1, 0, 2.7273, 4.5566, 4.8370, 10),
    (20, 40, 0, 0, 6.8852, 6.8852, 6.8852, 20),
    (20, 40, 10, 0, 6.8852, 114.15, 114.35, 2020),
    (10, 20, 1, 1, 4.7500 - 1, 6.3705 - 1, 7.1111 - 1, 21 - 1),
]


@pytest.mark.parametrize(("d", "n", "mean", "sigma", "ltb", "lsa", "gd0", "zero"), TABLE)
def test_table_of_the_notes(d, n, mean, sigma, ltb, lsa, gd0, zero):
    problem = isotropic(d, n, mean, sigma)
    digits = {"rtol": 0, "atol": 0.006 if lsa > 100 else 6e-5}
    np.testing.assert_allclose(gd_beta_minimum(problem), ltb, **digits)
    np.testing.assert_allclose(best_heads(problem, 1).risk, lsa, **digits)
    np.testing.assert_allclose(one_step_risk(problem, jnp.zeros(d)), gd0, **digits)
    np.testing.assert_allclose(zero_risk(problem), zero, rtol=1e-12)


# d = n = 10, mean 1, no noise (initial_guess.md, section 2.7)
BY_HEADS = [7.6879, 6.3776, 5.9782, 5.7841, 5.6691, 5.5928, 5.5382, 5.4967, 5.4633, 5.4342, 5.4342, 5.4342]


@pytest.mark.slow
def test_head_counts_of_the_notes():
    problem = isotropic(10, 10, 1.0)
    found = [best_heads(problem, heads).risk for heads in range(1, 13)]
    np.testing.assert_allclose(found, BY_HEADS, atol=6e-5)
    np.testing.assert_allclose(saturated_risk(problem), found[-1], rtol=1e-12)
    assert heads_needed(problem) == 10


@pytest.mark.parametrize("seed", quick(range(3)))
def test_heads_do_not_matter_without_a_mean(seed):
    task = random_task(seed, noise=FixedNoise(0.4))
    problem = Problem(jnp.zeros(3), task.prior.cov, task.inputs.second_moment(3), task.n, sigma=0.4)
    for heads in range(1, 6):
        np.testing.assert_allclose(best_heads(problem, heads).risk, gd_beta_minimum(problem), rtol=1e-9)


@pytest.mark.parametrize(("n", "mean", "expected"), [(10, 0.5, 5.38), (10, 1, 5.796), (10, 2, 7.06), (40, 1, 2.30)])
def test_attending_queries_of_the_notes(n, mean, expected):
    """The notes' values are Monte Carlo, to about 0.2%; ours are exact."""
    found = best_heads(isotropic(10, n, mean), 11, query_masked=False).risk
    np.testing.assert_allclose(found, expected, rtol=6e-3)


def test_one_head_isotropic_formula():
    for d, n, mean, psi, sigma in ((10, 10, 1.0, 1.0, 0.0), (3, 8, -2.0, 0.5, 0.7), (6, 4, 0.3, 2.0, 1.5)):
        problem = Problem(jnp.full(d, mean), psi * jnp.eye(d), jnp.eye(d), n, sigma=sigma)
        exact = one_head_isotropic_minimum(d, n, abs(mean) * d**0.5, psi, sigma)
        np.testing.assert_allclose(best_heads(problem, 1).risk, exact, rtol=1e-9)


def notes_lsa_risk(h, psi, b_star, sigma, m, u21, u, u11, u12):
    """The polynomial of ltb.md, section 3 (b), letter by letter, less sigma^2."""
    a_, b, v = u11 + np.outer(b_star, u12), u21 + u * b_star, u12
    hp = h @ psi
    t, t2 = np.trace(hp), np.trace(hp @ hp)
    big_b = b_star @ h @ b_star
    ah, hv = a_.T @ h, h @ v
    square = np.trace(ah @ a_ @ h)
    norm_b, norm_v = b @ h @ b, v @ hv
    cross = b @ hp @ h @ a_ @ hv
    plain = b @ h @ a_ @ hv
    step = ah @ b
    return (
        (m + 1)
        / m
        * (
            step @ h @ step
            + u**2 * np.trace(ah @ psi @ h @ a_ @ h)
            + 2 * u * cross
            + norm_v * (b @ hp @ h @ b)
            + 2 * u * t * plain
            + u**2 * norm_v * (t**2 + 2 * t2)
        )
        + 1
        / m
        * (norm_b * square + t * norm_b * norm_v + 4 * u * cross + u**2 * t * square + u**2 * norm_v * (t**2 + 2 * t2))
        - 2 * (b @ h @ a_ @ h @ b_star + u * t * (v @ h @ b_star) + u * np.trace(h @ a_ @ hp) + b @ hp @ hv)
        + big_b
        + t
        + sigma**2 / m * (norm_v * norm_b + u**2 * square + 2 * u * plain + 4 * u**2 * t * norm_v)
        + u**2 * norm_v * sigma**4 * (m + 2) / m
        + 2 * sigma**2 * u * (plain + u * t * norm_v - b_star @ hv)
    )


@pytest.mark.parametrize("seed", quick(range(4)))
def test_lsa_polynomial_of_the_notes(seed):
    """Two derivations of one polynomial, on random weights: term by term in the notes, by Wishart moments here."""
    rng = np.random.default_rng(seed)
    task = random_task(seed, noise=FixedNoise(0.6))
    problem = Problem.of(task)
    v, u = rng.standard_normal(4), rng.standard_normal((4, 3))
    # Their symbols: a = (u21, u) is our v, U = [U11; u12^T] our u.
    args = (np.asarray(task.inputs.second_moment(3)), np.asarray(task.prior.cov), np.asarray(task.prior.mean), 0.6)
    expected = notes_lsa_risk(*args, task.n, v[:3], v[3], u[:3], u[3])
    np.testing.assert_allclose(lsa_risk(problem, jnp.asarray(v), jnp.asarray(u)), expected, rtol=1e-10)


@pytest.mark.parametrize("seed", quick(range(3)))
def test_gd_beta_risk_is_theorem_5_2(seed):
    """The paper's completed square, with Omega, against the expanded form."""
    task = random_task(seed, noise=FixedNoise(0.6))
    problem, n = Problem.of(task), task.n
    rng = np.random.default_rng(seed)
    beta, g = rng.standard_normal(3), rng.standard_normal((3, 3))
    h, shift = np.asarray(problem.inputs), beta - np.asarray(problem.mean)
    root = np.asarray(problem.root)
    s = root @ np.asarray(problem.cov) @ root
    t = np.trace(s)
    omega = ((n + 1) * s + (t + 0.36) * np.eye(3)) / n
    h_g = (np.eye(3) - g @ h).T @ h @ (np.eye(3) - g @ h) + np.trace(h @ g.T @ h @ g) * h / n + h @ g.T @ h @ g @ h / n
    off = root @ g @ root - s @ np.linalg.inv(omega)
    expected = shift @ h_g @ shift + np.trace(off @ omega @ off.T) + t - np.trace(s @ s @ np.linalg.inv(omega))
    np.testing.assert_allclose(gd_beta_risk(problem, jnp.asarray(beta), jnp.asarray(g)), expected, rtol=1e-10)


def _gradients(problem: Problem) -> dict:
    """Autodiff gradients of every risk at its minimiser."""
    d, zero = problem.d, jnp.zeros(problem.d)
    gradients = {
        "step": jax.grad(lambda step: gd_risk(problem, zero, step))(optimal_step(problem, zero)),
        "gamma": jax.grad(lambda gamma: gd_beta_risk(problem, zero, gamma))(optimal_gamma(problem, zero)),
        "gd_beta": jax.grad(lambda p: gd_beta_risk(problem, *p))((problem.mean, optimal_gamma(problem, problem.mean))),
    }
    for heads in (1, 2, d, d + 1, d + 2):
        for masked in (True, False):
            found = best_heads(problem, heads, query_masked=masked)
            gradients[heads, masked] = jax.grad(
                lambda p, masked=masked: multi_head_lsa_risk(problem, *p, query_masked=masked)
            )((jnp.asarray(found.v), jnp.asarray(found.u)))
    for masked in (True, False):
        found = best_heads(problem, 1, query_masked=masked, free_offset=True)
        gradients["ltb", masked] = jax.grad(lambda p, masked=masked: ltb_risk(problem, *p, query_masked=masked))(
            (jnp.asarray(found.v[0]), jnp.asarray(found.u[0]), jnp.asarray(found.offset))
        )
    return gradients


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    quick(PROBLEMS),
)
def test_gradients_vanish_at_the_minimisers(name):
    for what, gradient in _gradients(PROBLEMS[name]).items():
        largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(gradient))
        assert largest < 1e-8, (what, largest)


@pytest.mark.parametrize(
    ("name", "heads", "masked"),
    [
        ("random 0", 1, True),
        pytest.param("random 0", 1, False, marks=pytest.mark.slow),
        ("random 0", 4, True),
        pytest.param("random 0", 4, False, marks=pytest.mark.slow),
        ("random 1", 2, True),
        pytest.param("random 2", 2, True, marks=pytest.mark.slow),
        ("low rank", 1, True),
        pytest.param("low rank", 2, False, marks=pytest.mark.slow),
    ],
)
def test_no_restart_beats_the_best_heads(name, heads, masked):
    problem = PROBLEMS[name]
    d = problem.d
    lowest = lowest_of_restarts(
        lambda v, u: multi_head_lsa_risk(problem, v, u, query_masked=masked), [(heads, d + 1), (heads, d + 1, d)]
    )
    found = best_heads(problem, heads, query_masked=masked).risk
    assert found <= lowest + 1e-9
    np.testing.assert_allclose(found, lowest, rtol=1e-5)  # and the restarts find it: it is no bound from thin air


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(["random 0", "low rank"]))
def test_no_restart_beats_one_step_descent(name):
    problem = PROBLEMS[name]
    d, zero = problem.d, jnp.zeros(problem.d)
    minimum = float(gd_beta_minimum(problem))
    for lowest, found in (
        (lowest_of_restarts(lambda b, g: gd_beta_risk(problem, b, g), [(d,), (d, d)]), minimum),
        (lowest_of_restarts(lambda g: gd_beta_risk(problem, zero, g), [(d, d)], 10), one_step_risk(problem, zero)),
        (lowest_of_restarts(lambda v, u, s: ltb_risk(problem, v, u, s), [(d + 1,), (d + 1, d), (d,)]), minimum),
        (lowest_of_restarts(lambda v, u, g: yq_lsa_risk(problem, v, u, g), [(d + 1,), (d + 1, d + 1), (d,)]), minimum),
    ):
        assert found <= lowest + 1e-9
        np.testing.assert_allclose(found, lowest, rtol=1e-4)


def test_gd_from_a_wrong_start():
    """tau (1 - n / (n + d + 1 + s^2 d / tau)), tau = d psi + |mu - w0|^2 (initial_guess.md, 2.5)."""
    d, n, sigma = 4, 7, 0.8
    problem = isotropic(d, n, 1.0, sigma)
    for start in (jnp.zeros(d), jnp.full(d, 2.5)):
        tau = d + float(jnp.sum((problem.mean - start) ** 2))
        expected = tau * (1 - n / (n + d + 1 + sigma**2 * d / tau))
        np.testing.assert_allclose(gd_risk(problem, start, optimal_step(problem, start)), expected, rtol=1e-12)


def test_large_mean_limit():
    """LSA's gap over |mu|^2 tends to 2 / (n + 2) for a large mean."""
    problem = isotropic(5, 5, 200.0)
    gap = best_heads(problem, 1).risk - float(gd_beta_minimum(problem))
    np.testing.assert_allclose(gap / float(problem.size(problem.mean)), 2 / 7, rtol=1e-4)


def test_noiseless_oracle():
    assert noiseless_oracle_risk(isotropic(5, 5, 1.0)) == 0.0
    np.testing.assert_allclose(noiseless_oracle_risk(isotropic(5, 2, 1.0)), 3.0)
    assert noiseless_oracle_risk(isotropic(5, 5, 1.0, 0.1)) is None
    skewed = Problem(jnp.zeros(3), jnp.diag(jnp.array([1.0, 2.0, 3.0])), jnp.eye(3), 2, sigma=0.0)
    assert noiseless_oracle_risk(skewed) is None


def test_degenerate_problems():
    """No inputs, no prior spread, nothing: finite numbers, no crash."""
    nothing = Problem(jnp.ones(2), jnp.eye(2), jnp.zeros((2, 2)), 3, sigma=0.0)
    for heads in (1, 2):
        assert best_heads(nothing, heads).risk == 0.0
    assert float(gd_beta_minimum(nothing)) == 0.0 and float(saturated_risk(nothing)) == 0.0
    certain = Problem(jnp.ones(2), jnp.zeros((2, 2)), jnp.eye(2), 3, sigma=0.0)
    assert float(gd_beta_minimum(certain)) == 0.0
    np.testing.assert_allclose(best_heads(certain, 3).risk, saturated_risk(certain), rtol=1e-9)
    np.testing.assert_allclose(saturated_gap(certain), 2 * 2 / (2 * 3 + 2), rtol=1e-12)
    one = LinearRegression(1, 3, noise=FixedNoise(0.5))
    assert np.isfinite(best_heads(Problem.of(one), 1).risk)


def test_attending_risk_reduces_to_masked_without_inputs_in_the_value():
    """A query token (x, 0) adds nothing to heads that read labels only."""
    problem = random_problem(1)
    tensor = jnp.zeros((3, 4, 4)).at[:, :3, 3].set(jnp.eye(3) / 2)
    args = (problem, problem.mean, tensor)
    np.testing.assert_allclose(attending_risk(*args), gram_risk(*args), rtol=1e-12)
