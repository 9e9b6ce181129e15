"""Models that are odd: broken, constant, not linear, somebody's own; and what is said of them is not too much."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import AbstractLinearPredictor, AbstractPredictor, LinearRegression, attention as at, estimators as es
from descant.attention import layer_states
from descant.readout import explain, figures, over_time
from descant.readout._contexts import Contexts
from descant.readout._stack import Stack
from descant.tasks import CategoricalNoise, Moments
from tests.support.gauges import regauged_stack

D, N = 2, 8
TASK = LinearRegression(D, N, noise=0.5)


class Own(AbstractLinearPredictor):
    """Somebody's own: two steps of gradient descent, by LAPACK at the end so that batches are not asked of it."""

    def weights(self, moments):
        s, alpha = moments.xx / moments.n, moments.xy / moments.n
        w = 0.3 * alpha
        w = w + 0.2 * (alpha - s @ w)
        return jnp.linalg.solve(jnp.eye(moments.d), w)


class Bent(AbstractPredictor):
    """One step's answer, bounded: not linear in the query."""

    def __call__(self, prompt):
        return jnp.tanh(2 * (prompt.y @ prompt.x) @ prompt.x_query / prompt.n)


def test_weights_that_are_no_numbers():
    found = explain(at.GDPlusPlusTransformer(jnp.array([jnp.nan, 0.0]), jnp.ones(2)), TASK, contexts=64)
    assert found.verdict == "diverges"
    assert "diverges" in found.sentence
    assert found.as_json()["match"] is None
    assert figures(found) == ()


def test_a_network_that_overflows():
    found = explain(at.GDPlusPlusTransformer(jnp.full(9, 1e3), jnp.full(9, 1e3)), TASK, contexts=64)
    assert found.verdict == "diverges"


def test_a_constant():
    found = explain(es.Zero(), TASK, contexts=64)
    assert found.verdict == "constant"
    assert "whatever the context" in found.sentence


def test_a_predictor_of_ones_own():
    found = explain(Own(), TASK, contexts=64)
    assert (found.verdict, found.match.algorithm, found.match.method) == ("is", "gradient descent", "behaviour")
    np.testing.assert_allclose(found.match.parameters["step"], [0.2, 0.3], rtol=1e-6)


def test_what_is_not_linear_in_the_query():
    found = explain(Bent(), TASK, contexts=64)
    assert found.linearity.share.value < 0.95
    assert found.verdict == "none of these"
    assert any("linear in the query to" in each for each in found.sentences)


def test_softmax():
    model = at.make_model("softmax", TASK, layers=1, key=jax.random.key(0))
    found = explain(model, TASK, contexts=64)
    assert found.linearity is not None
    assert found.how == "its answers to many queries"
    assert found.estimators or found.verdict in ("is", "constant")


def test_a_layer_of_ones_own_is_read_as_a_stack():
    found = explain(at.Axial.from_diag(at.Diag.zeros(2)), TASK, contexts=64)
    assert found.verdict == "constant"


def test_states_are_those_of_the_recursion():
    model = at.Full.random(D, layers=3, heads=2, key=jax.random.key(0), scale=0.4)
    contexts = Contexts.draw(TASK, 64, jax.random.key(1))
    states = Stack.of(model, D).states(contexts)
    expected = jax.vmap(lambda gram: layer_states(model, Moments(gram, N)))(jnp.asarray(contexts.gram))
    np.testing.assert_allclose(states.w, np.moveaxis(np.asarray(expected.w), 1, 0), atol=1e-12)
    # Before the last layer all four, after it only what is read.
    np.testing.assert_allclose(states.m[:-1], np.moveaxis(np.asarray(expected.m), 1, 0)[:-1], atol=1e-12)
    np.testing.assert_allclose(states.u[:-1], np.moveaxis(np.asarray(expected.u), 1, 0)[:-1], atol=1e-12)
    np.testing.assert_allclose(states.a[:-1], np.moveaxis(np.asarray(expected.a), 1, 0)[:-1], atol=1e-12)


def test_writes_that_nobody_reads_are_not_seen():
    # The last layer only rescales the answer, so what the layer before does to the inputs is read by nobody.
    model = at.FreeDiag(
        w_xx=jnp.array([-0.01, 0.7, 0.0]),
        w_xy=jnp.array([0.0, 0.3, 0.0]),
        w_yx=jnp.array([-0.05, -0.05, 0.0]),
        w_yy=jnp.array([0.0, 0.0, -0.01]),
    )
    omegas = Stack.of(regauged_stack(model, D, 3), D).omegas()
    np.testing.assert_allclose(omegas[1], [[0.0, 0.0], [-0.05, 0.0]], atol=1e-12)
    np.testing.assert_allclose(omegas[0], [[-0.01, 0.0], [-0.05, 0.0]], atol=1e-12)


def test_a_layer_that_only_rescales_and_far_from_any_ridge():
    # Made for inputs of another size: huge steps, which the second layer takes back, and more.
    task = LinearRegression(D, N, noise=CategoricalNoise(jnp.array([1.0, 3.0])))
    found = explain(at.two_noise_network(N, (1.0, 3.0)), task, contexts=64)
    assert found.layers[1].sentence.startswith("Layer 2 only rescales the answer, shrunk by")
    assert found.verdict in ("none of these", "diverges")
    assert not any("e+" in each for each in found.sentences if "ridge" in each)


def test_least_squares_is_called_so():
    found = explain(es.OLS(), LinearRegression(D, N, noise=1.0), contexts=64)
    assert found.sentence == (
        "The network is least squares: ridge regression without a penalty (as its answers show, to rounding)."
    )


def test_long_contexts_say_that_they_tell_little():
    task = LinearRegression(D, 4000, noise=0.1)
    found = explain(es.OLS(), task, contexts=64)
    assert found.verdict != "is" or found.not_told_apart
    assert any("be told from" in each for each in found.sentences)


def test_over_time_of_a_made_up_training():
    final = at.GDPlusPlusTransformer(jnp.array([-0.02, 0.0]), jnp.array([-0.04, -0.1]))
    first = at.GDPlusPlusTransformer(jnp.array([0.0, 0.0]), jnp.array([-0.04, -0.01]))
    shallow = at.GDPlusPlusTransformer(jnp.zeros(1), jnp.array([-0.04]))
    found = over_time([(1, "1", shallow), (2, "2", first), (4, "4", final)], TASK, unit="steps", contexts=64)
    assert found.settled == (2, 4)
    assert found.moments[0].off == (None, None)
    assert "from 2 on" in found.sentences[0]
    assert "only after 2" in found.sentences[1]
    assert len(found.figure().panels) == 2


@pytest.mark.parametrize("contexts", [0, 63])
def test_too_few_contexts(contexts):
    with pytest.raises(ValueError, match="contexts is"):
        explain(es.OLS(), TASK, contexts=contexts)
