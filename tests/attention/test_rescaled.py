"""Models at another context length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression, Moments, risk
from descant.attention import LSA, Axial, Diag, FreeDiag, Full, GDPlusPlusTransformer, SoftmaxTransformer, rescaled
from descant.measure import best, exact_risk
from descant.tasks import Unknown

KEY = jax.random.key(0)
STACKS = [
    Full.random(3, 2, 2, key=KEY, scale=0.5),
    Diag.random(2, 2, key=KEY, scale=0.2),
    Diag.random(2, 2, key=KEY, scale=0.2, tied=True),
    FreeDiag.random(3, key=KEY),
    GDPlusPlusTransformer.random(3, key=KEY),
    Axial.random(2, 2, key=KEY),
    LSA.random(3, 2, key=KEY),
]


@pytest.mark.parametrize("model", STACKS, ids=lambda model: type(model).__name__)
def test_five_copies_of_a_context_look_like_one(model):
    """Every token five times: the rescaled network answers as the first did to the context itself."""
    moments = LinearRegression(3, 8, noise=0.5).sample_moments(key=KEY)
    longer = Moments(5 * moments.gram, 40, moments.w, moments.sigma)
    again = rescaled(model, 8, 40)
    assert type(again) is type(model)
    np.testing.assert_allclose(again.weights(longer), model.weights(moments), rtol=1e-12)
    if not isinstance(model, LSA):
        assert np.abs(np.asarray(model.weights(longer) - model.weights(moments))).max() > 1e-6


def test_one_layer_keeps_its_exact_risk():
    """A GD step with the step size eta / n, trained at n = 8: rescaled it is the step of the same size at n = 40."""
    short, long = LinearRegression(3, 8, noise=0.5), LinearRegression(3, 40, noise=0.5)
    gd = best("gd", short)
    model = GDPlusPlusTransformer(jnp.zeros(1), -gd.steps / 8)
    assert exact_risk(rescaled(model, 8, 40), long) == pytest.approx(exact_risk(gd, long), rel=1e-12)
    assert exact_risk(model, long) > 5 * exact_risk(rescaled(model, 8, 40), long)
    sampled = risk(rescaled(model, 8, 40), long, "tokens", samples=4096)
    assert abs(sampled.value - exact_risk(gd, long)) < 4 * sampled.standard_error


def test_others_say_that_they_cannot():
    with pytest.raises(Unknown, match="SoftmaxTransformer is not known to read its context through plain sums"):
        rescaled(SoftmaxTransformer(3, width=8, depth=1, heads=1, key=KEY), 8, 40)
