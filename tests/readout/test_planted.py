"""Planted algorithms are recovered from weights to 1e-8, whatever the gauge, and what is none of them is told so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import GaussianPrior, LinearRegression, attention as at, estimators as es
from descant.programs import compile_program
from descant.readout import explain
from descant.readout._contexts import Contexts
from descant.readout._exact import exact_match
from descant.readout._residuals import chebyshev_roots, heavy_ball_steps
from descant.readout._trace import traced
from tests.support.gauges import regauged_lsa, regauged_ltb, regauged_stack

D, N = 3, 10
TASK = LinearRegression(d=D, n=N, noise=0.5)
CLOSE = {"rtol": 1e-8, "atol": 1e-8}
GAMMA = jnp.array([[0.5, 0.1, 0.0], [0.0, 0.3, 0.1], [0.2, 0.0, 0.8]])
BETA = jnp.array([1.0, -2.0, 0.5])


def look(model, task=TASK):
    return explain(model, task, contexts=128)


def stack(steps):
    return at.gd_as_transformer(es.GD(jnp.zeros(D), steps), n=N)


def numbers(found, name):
    return np.asarray(found.match.parameters[name])


STACKS = {
    "gradient descent": (stack([0.3, 0.3]), {"step": 0.3, "steps": 2}),
    "own steps": (stack([0.3, 0.1, 0.55]), {"step": [0.3, 0.1, 0.55]}),
    "heavy ball": (stack(heavy_ball_steps(0.5, 0.3, 4)[::-1]), {"step": 0.5, "momentum": 0.3, "steps": 4}),
    "Chebyshev iteration": (stack(1 / chebyshev_roots(0.3, 2.5, 4)), {"low": 0.3, "high": 2.5, "steps": 4}),
    "GD++": (
        at.gd_plus_plus_as_transformer(es.GDPlusPlus([0.03, 0.05, 0.04], [0.01, 0.02, 0.07])),
        {"step": [0.3, 0.5, 0.4], "contraction": [0.1, 0.2, 0.0]},
    ),
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks(name):
    model, expected = STACKS[name]
    found = look(model)
    assert found.match.algorithm == ("gradient descent" if name == "own steps" else name)
    assert (found.verdict, found.match.method) == ("is", "weights")
    for each, value in expected.items():
        np.testing.assert_allclose(numbers(found, each), value, **CLOSE)


@pytest.fixture(scope="module")
def contexts():
    return Contexts.draw(TASK, 128, jax.random.key(0))


@pytest.mark.parametrize("gauge", range(3))
@pytest.mark.parametrize("name", STACKS)
def test_stacks_in_another_gauge(name, gauge, contexts):
    model, expected = STACKS[name]
    match = exact_match(traced(regauged_stack(model, D, gauge), contexts), contexts)
    assert match is not None
    assert match.algorithm == ("gradient descent" if name == "own steps" else name)
    for each, value in expected.items():
        np.testing.assert_allclose(np.asarray(match.parameters[each]), value, **CLOSE)


def test_a_single_layer_in_another_gauge(contexts):
    gd_beta = es.GDBeta(BETA, GAMMA)
    models = {
        "yq-lsa": regauged_lsa(at.gd_beta_as_yq_lsa(gd_beta), 4),
        "ltb": regauged_ltb(at.gd_beta_as_ltb(gd_beta), 5),
        "lsa": regauged_lsa(at.gd_as_lsa(es.PreconditionedGD(GAMMA)), 6),
    }
    for name, model in models.items():
        match = exact_match(traced(model, contexts), contexts)
        assert match is not None
        assert match.algorithm == ("preconditioned gradient descent" if name == "lsa" else "GD-beta")
        np.testing.assert_allclose(np.asarray(match.parameters["gamma"]), GAMMA, **CLOSE)
        np.testing.assert_allclose(np.asarray(match.parameters.get("start", BETA)), BETA, **CLOSE)


def test_a_single_step_with_a_matrix():
    found = look(at.gd_as_lsa(es.PreconditionedGD(GAMMA)))
    assert (found.verdict, found.match.algorithm) == ("is", "preconditioned gradient descent")
    np.testing.assert_allclose(numbers(found, "gamma"), GAMMA, **CLOSE)


def test_gd_beta_from_weights():
    task = LinearRegression(D, N, prior=GaussianPrior.isotropic(D, mean=1.0), noise=0.5)
    found = look(at.gd_beta_as_ltb(es.GDBeta(BETA, GAMMA)), task)
    assert (found.verdict, found.match.algorithm, found.match.method) == ("is", "GD-beta", "weights")
    np.testing.assert_allclose(numbers(found, "gamma"), GAMMA, **CLOSE)
    np.testing.assert_allclose(numbers(found, "start"), BETA, **CLOSE)
    # Beside the best: its start is the prior mean.
    assert found.one_step is not None
    assert found.one_step.true_start == (1.0,) * D
    np.testing.assert_allclose(found.one_step.start_off, np.linalg.norm(BETA - 1) / D**0.5)


def test_gd_beta_from_answers():
    found = look(at.gd_beta_as_elsa(es.GDBeta(BETA, GAMMA), N))
    assert (found.verdict, found.match.algorithm, found.match.method) == ("is", "GD-beta", "behaviour")
    np.testing.assert_allclose(numbers(found, "gamma"), GAMMA, **CLOSE)
    np.testing.assert_allclose(numbers(found, "start"), BETA, **CLOSE)
    assert found.linearity is not None
    assert found.linearity.share.value > 1 - 1e-12


PROGRAMS = {
    "momentum": (
        {"T": 4, "eta": 0.03, "mu": 0.3, "lam": 0.5},
        "heavy ball on the ridge loss",
        {"step": 0.3, "momentum": 0.3, "penalty": 0.5},
    ),
    "chebyshev": (
        {"T": 4, "low": 1.0, "high": 30.0, "lam": 0.5},
        "Chebyshev iteration on the ridge loss",
        {"low": 0.1, "high": 3.0, "penalty": 0.5},
    ),
    "ridge": ({"T": 3, "eta": 0.02, "lam": 0.0}, "gradient descent", {"step": 0.2, "steps": 3}),
    "gd_plus_plus": (
        {"T": 3, "eta": 0.03, "gamma": 0.01},
        "GD++",
        {"step": [0.3] * 3, "contraction": [0.1, 0.1, 0.0]},
    ),
    "ridge_newton_schulz": (
        {"T": 3, "lam": 2.0, "high": 60.0},
        "ridge by Newton-Schulz",
        {"penalty": 2.0, "scale": 2 / 62, "steps": 3},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs(name):
    settings, algorithm, expected = PROGRAMS[name]
    found = look(compile_program(name, n=N, d=D, **settings))
    assert (found.verdict, found.match.algorithm) == ("is", algorithm)
    for each, value in expected.items():
        np.testing.assert_allclose(numbers(found, each), value, **CLOSE)


def test_two_gauges_read_the_same():
    model = at.Full.random(D, layers=3, heads=2, key=jax.random.key(1), scale=0.2)
    one, other = (look(each).as_json() for each in (model, regauged_stack(model, D, 7)))
    assert one["sentence"] == other["sentence"]
    for here, there in zip(one["layers"], other["layers"], strict=True):
        for name in ("step", "size", "momentum"):
            np.testing.assert_allclose(here[name], there[name], rtol=1e-6)
        for name, value in here["own"].items():
            np.testing.assert_allclose(value, there["own"][name], rtol=1e-6, atol=1e-9)
    assert one["directions"]["beside_diagonal"] == pytest.approx(other["directions"]["beside_diagonal"], rel=1e-8)


def test_random_networks_are_none_of_these():
    key = jax.random.key(2)
    models = (
        at.make_model("diag", TASK, layers=3, heads=2, key=key),
        at.Full.random(D, layers=3, heads=2, key=key, scale=1.0),
        at.LSA.random(D, heads=4, key=key),
    )
    for model in models:
        found = look(model)
        assert found.verdict in ("none of these", "diverges"), found.sentence
        assert "none of the algorithms" in found.sentence or "diverges" in found.sentence


def test_near_is_not_is():
    model = at.FreeDiag(jnp.zeros(2), jnp.array([1e-4, 0.0]), jnp.array([-0.03, -0.03]), jnp.array([0.0, -1e-4]))
    found = look(model)
    assert found.verdict == "is nearly"
    assert found.match.method == "behaviour"
    assert 0.99 < found.match.share.value < 1 - 1e-9
