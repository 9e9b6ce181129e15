"""What was said of models and was not so: each of these was told wrongly once."""

import jax
import jax.numpy as jnp
import numpy as np

from descant import AbstractLinearPredictor, AbstractPredictor, LinearRegression, attention as at, estimators as es
from descant.attention._full import as_full
from descant.readout import explain
from descant.readout._contexts import Contexts
from descant.readout._spelled import give
from descant.readout._trace import traced, weights_on

D, N = 3, 10
TASK = LinearRegression(D, N, noise=0.5)


def large_inputs(w_yy=0.0, size=1e3):
    """A first layer that makes inputs huge, and a second with tiny weights that works on these."""
    return at.FreeDiag(
        jnp.array([size, 0.0]), jnp.zeros(2), jnp.array([-0.03, -0.03 / (N * size) ** 2]), jnp.array([0.0, w_yy])
    )


def test_a_small_layer_on_large_inputs_is_looked_at():
    full = as_full(large_inputs(), D)
    model = at.Full(full.p, full.q.at[1].set(full.q[1] @ jnp.diag(jnp.array([3.0, -1.0, 1.0, 1.0]))))
    found = explain(model, TASK, contexts=64)
    assert found.verdict != "is", found.sentence


def test_the_network_without_its_gauge_is_the_same_function():
    model, contexts = large_inputs(w_yy=-0.0005, size=1e6), Contexts.draw(TASK, 64, jax.random.key(0))
    trace, own = traced(model, contexts), weights_on(model, contexts)
    np.testing.assert_allclose(trace.states.w[-1], own, rtol=1e-6)
    np.testing.assert_array_equal(trace.answer, own)


def test_what_is_read_off_weights_is_measured():
    found = explain(large_inputs(), TASK, contexts=64)
    assert (found.verdict, found.match.algorithm, found.match.method) == ("is", "GD++", "weights")
    assert found.match.share.error > 0


class Steps(AbstractLinearPredictor):
    """Ten steps of gradient descent, and a mask as others have it."""

    mask: jax.Array

    def weights(self, moments):
        w = jnp.zeros(moments.d)
        for _ in range(10):
            w = w + 0.1 * (moments.xy - moments.xx @ w) / moments.n
        return w


class Loud(AbstractLinearPredictor):
    """A step where labels are loud, else nothing."""

    def weights(self, moments):
        return jnp.where(moments.gram[-1, -1] / moments.n > 4.0, 0.3 * moments.xy / moments.n, 0.0)


class Cubic(AbstractPredictor):
    """The cube of a step's answer."""

    def __call__(self, prompt):
        return ((prompt.y @ prompt.x) @ prompt.x_query / prompt.n) ** 3


def test_many_steps_of_one_size_and_a_mask():
    found = explain(Steps(jnp.array([0.0, -jnp.inf])), TASK, contexts=64)
    assert (found.verdict, found.match.algorithm) == ("is", "gradient descent")
    assert found.match.parameters["steps"] == 10
    np.testing.assert_allclose(found.match.parameters["step"], 0.1, rtol=1e-6)


def test_steps_of_their_own_on_long_contexts():
    model = at.gd_as_transformer(es.GD(jnp.zeros(D), [0.9, 0.1, 0.4]), n=10**5)
    found = explain(model, LinearRegression(D, 10**5, noise=0.5), contexts=64)
    assert (found.match.algorithm, found.match.method) == ("gradient descent", "weights")
    np.testing.assert_allclose(found.match.parameters["step"], [0.9, 0.1, 0.4], rtol=1e-6)


def test_a_model_that_is_mostly_silent_does_not_diverge():
    assert explain(Loud(), TASK, contexts=64).verdict != "diverges"


def test_queries_that_were_fitted_to_do_not_say_how_linear():
    found = explain(Cubic(), LinearRegression(32, 16, noise=0.5), contexts=64)
    assert found.linearity is None or found.linearity.share.value < 0.5


def test_a_wide_stack_says_how_many_steps_it_takes():
    task = LinearRegression(41, 50, noise=0.5)
    model = at.gd_as_transformer(es.GD(jnp.zeros(41), [0.05] * 7), n=50)
    assert traced(model, Contexts.draw(task, 64, jax.random.key(0))).steps == 7
    found = explain(model, task, contexts=64)
    assert (found.verdict, found.match.algorithm, found.match.parameters["steps"]) == ("is", "gradient descent", 7)


def test_a_layer_is_called_by_its_largest_part():
    model = at.FreeDiag(jnp.zeros(2), jnp.zeros(2), jnp.array([0.03, -0.0003]), jnp.array([0.0, -0.02]))
    layers = explain(model, TASK, contexts=64).layers
    assert "gradient ascent of size 0.3" in layers[0].sentence
    assert layers[1].sentence.startswith("Layer 2 mostly rescales the answer, shrunk by")


def test_a_distance_from_nothing_is_no_percentage():
    found = explain(at.gd_beta_as_ltb(es.GDBeta(jnp.array([3.0, 0.0, 0.0]), 0.5 * jnp.eye(D))), TASK, contexts=64)
    assert "a start that is zero, 3 away" in found.text


def test_two_steps_up_the_gradient_are_no_ridge_regression():
    """Any two of them are, with a penalty from which steps diverge."""
    found = explain(es.GD(jnp.zeros(D), [-0.2, -0.3]), TASK, contexts=128)
    assert (found.verdict, found.match.algorithm) == ("is", "gradient descent"), found.sentence
    assert "is gradient ascent: 2 steps of sizes 0.3, 0.2" in found.sentence


def test_fitted_numbers_have_the_digits_that_their_errors_leave():
    for value in (12.3456789, -0.0362113, 3.14159e7, 2.5e-9):
        for share in (1e-2, 1e-4, 3e-6):
            shown, _, error = give(value, share * abs(value)).partition(" ± ")
            assert abs(float(shown) - value) <= 0.51 * float(error), (shown, error)
