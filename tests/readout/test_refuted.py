"""What was said of models and was not so: each of these was told wrongly once."""

import jax
import jax.numpy as jnp
import numpy as np

from descant import LinearRegression, attention as at
from descant.attention._full import as_full
from descant.readout import explain
from descant.readout._contexts import Contexts
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
