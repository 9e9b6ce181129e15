"""Gradient flow and convergence rates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.estimators import GDPlusPlus
from descant.theory import (
    Problem,
    flow_bounds,
    gd_best_step,
    gd_beta_minimum,
    gd_beta_risk,
    gd_error,
    gd_plus_plus_layers_needed,
    gd_plus_plus_spectrum,
    gd_rate,
    gd_steps_needed,
    gradient_flow,
)
from tests.support.problems import low_rank_task, random_problem


def _start(problem: Problem, seed: int):
    rng = np.random.default_rng(seed)
    d = problem.d
    return jnp.asarray(rng.standard_normal(d)), jnp.asarray(rng.standard_normal((d, d)))


@pytest.mark.parametrize("seed", range(3))
def test_flow_stays_below_the_bounds_and_arrives(seed):
    problem = random_problem(seed)
    flow = gradient_flow(problem, *_start(problem, seed), np.linspace(0.0, 3000.0, 41))
    bounds = flow_bounds(problem, flow)
    slack = 1 + 1e-8
    assert np.all(flow.beta_distance <= bounds.beta * slack + 1e-9)
    assert np.all(flow.gamma_distance <= bounds.gamma * slack + 1e-9)
    assert np.all(np.diff(flow.risk) <= 1e-9)
    np.testing.assert_allclose(flow.risk[-1], gd_beta_minimum(problem), rtol=1e-6)
    np.testing.assert_allclose(flow.beta[-1], problem.mean, atol=1e-4)


def test_the_velocity_of_the_flow_is_that_of_the_notes():
    """docs/theory/flow.md, written out, against the gradient of the exact risk."""
    problem = random_problem(1)
    beta, gamma = map(np.asarray, _start(problem, 2))
    n, cov = problem.n, np.asarray(problem.inputs)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(values) @ vectors.T
    phi, eye, delta = root @ problem.cov @ root, np.eye(problem.d), beta - np.asarray(problem.mean)
    omega = ((n + 1) * phi + (np.trace(phi) + float(problem.noise2)) * eye) / n
    best = np.linalg.solve(root, phi @ np.linalg.inv(omega)) @ np.linalg.inv(root)
    left, quartic = eye - gamma @ cov, cov @ gamma.T @ cov @ gamma @ cov
    h = left.T @ cov @ left + (quartic + np.trace(gamma.T @ cov @ gamma @ cov) * cov) / n
    push = cov @ ((n + 1) / n * gamma @ cov - eye) @ np.outer(delta, delta) @ cov
    push = push + delta @ cov @ delta * cov @ gamma @ cov / n
    for_beta, for_gamma = jax.grad(lambda p: gd_beta_risk(problem, *p) / 2)((jnp.asarray(beta), jnp.asarray(gamma)))
    np.testing.assert_allclose(h @ delta, for_beta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(cov @ (gamma - best) @ root @ omega @ root + push, for_gamma, rtol=1e-9, atol=1e-9)


def test_flow_is_the_limit_of_gradient_descent():
    """Against explicit Euler with a tiny step, an independent integrator."""
    problem = random_problem(0)
    beta, gamma = _start(problem, 5)
    steps, time = 40_000, 0.4
    slope = jax.grad(lambda p: gd_beta_risk(problem, *p))

    def euler(_, p):
        return jax.tree.map(lambda value, g: value - time / steps * g / 2, p, slope(p))

    last_beta, last_gamma = jax.jit(lambda p: jax.lax.fori_loop(0, steps, euler, p))((beta, gamma))
    flow = gradient_flow(problem, beta, gamma, np.array([0.0, time]))
    # Euler is off by O(time / steps).
    np.testing.assert_allclose(flow.beta[-1], last_beta, atol=3e-5)
    np.testing.assert_allclose(flow.gamma[-1], last_gamma, atol=3e-5)


def test_the_flow_never_moves_what_inputs_do_not_reach():
    task = low_rank_task(0, inputs_rank=2)
    problem = Problem.of(task)
    beta, gamma = _start(problem, 1)
    flow = gradient_flow(problem, beta, gamma, np.linspace(0, 2000, 5))
    _, vectors = np.linalg.eigh(np.asarray(problem.inputs))
    null = vectors[:, :2]
    np.testing.assert_allclose(flow.beta @ null, np.tile(np.asarray(beta) @ null, (5, 1)), atol=1e-7)
    assert flow.beta_distance[-1] < 1e-2 * flow.beta_distance[0]
    bounds = flow_bounds(problem, flow)
    # The absolute slack is the accuracy to which the flow is integrated.
    assert np.all(flow.beta_distance <= bounds.beta * (1 + 1e-8) + 1e-9)
    assert np.all(flow.gamma_distance <= bounds.gamma * (1 + 1e-8) + 1e-9)


def test_flow_refuses_times_that_do_not_rise():
    problem = random_problem(0)
    with pytest.raises(ValueError, match="rising"):
        gradient_flow(problem, *_start(problem, 0), np.array([0.0, 0.0, 1.0]))


# (linear_transformer.md, section 4: layers to 1e-3, 1e-6, 1e-12)
@pytest.mark.parametrize(("condition", "expected"), [(10, (7, 8, 9)), (100, (10, 11, 12)), (1e4, (15, 16, 17))])
def test_gd_plus_plus_layers_of_the_notes(condition, expected):
    found = [gd_plus_plus_layers_needed(condition, accuracy).layers for accuracy in (1e-3, 1e-6, 1e-12)]
    assert tuple(found) == expected


def test_layers_needed_are_needed_and_enough():
    """The network itself, run on a diagonal problem with eigenvalues all over the range."""
    eigenvalues = np.geomspace(1.0, 50.0, 40)
    for accuracy in (1e-2, 1e-5, 1e-9):
        layers, conditions, error = gd_plus_plus_layers_needed(50.0, accuracy)

        def worst(layers):
            network = GDPlusPlus.preconditioned(layers, 1.0, 50.0)
            spectrum = gd_plus_plus_spectrum(eigenvalues, np.asarray(network.contractions)[:-1])
            return np.abs(1 - float(network.steps[-1]) * spectrum[-1]).max(), spectrum

        reached, spectrum = worst(layers)
        assert reached <= accuracy < worst(layers - 1)[0]
        np.testing.assert_allclose(reached, error, rtol=1e-4, atol=1e-13)
        np.testing.assert_allclose(spectrum.max(1) / spectrum.min(1), conditions, rtol=1e-7)


def test_condition_numbers_fall_as_the_theorem_says():
    conditions = np.array(gd_plus_plus_layers_needed(1e6, 1e-12).conditions)
    large = conditions[:-1] > 1.1
    assert np.all(conditions[1:][large] < conditions[:-1][large] * 0.95)
    small = conditions - 1
    assert np.all(small[1:][~large] <= 2 * small[:-1][~large] ** 2 + 1e-15)


def test_gd_rate_is_the_worst_case():
    low, high = 0.3, 4.0
    eigenvalues = np.linspace(low, high, 101)
    step, rate = gd_best_step(low, high), gd_rate(low, high)
    errors = gd_error(eigenvalues, np.full(7, step))
    np.testing.assert_allclose(np.abs(errors).max(), rate**7, rtol=1e-12)
    for other in (0.9 * step, 1.1 * step):
        assert np.abs(gd_error(eigenvalues, np.array([other]))).max() > rate
    steps = gd_steps_needed(high / low, 1e-6)
    assert rate**steps <= 1e-6 < rate ** (steps - 1)
    assert gd_steps_needed(1.0, 1e-6) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: gd_rate(0.0, 1.0),
        lambda: gd_rate(2.0, 1.0),
        lambda: gd_steps_needed(0.5, 1e-3),
        lambda: gd_plus_plus_layers_needed(10.0, 0.0),
        lambda: gd_plus_plus_layers_needed(float("nan"), 0.1),
        lambda: GDPlusPlus.preconditioned(0, 1.0, 2.0),
        lambda: GDPlusPlus.preconditioned(2, -1.0, 2.0),
    ],
)
def test_bad_ranges_are_refused(call):
    with pytest.raises(ValueError, match="expected"):
        call()
