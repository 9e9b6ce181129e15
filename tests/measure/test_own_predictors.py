"""Predictors and laws that somebody brings along: what they say of themselves is held against what they do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import AbstractLinearPredictor, AbstractPredictor, LinearRegression, risk
from descant._lapack import calls_lapack
from descant._linalg import eigh
from descant._predictor import Merged
from descant.estimators import Zero
from descant.tasks import AbstractLabelNoise, LabelMoments, StudentTPrior

TASK = LinearRegression(2, 6, noise=0.5)


class Boasts(AbstractPredictor):
    """Says that it is linear with weights that are not its own."""

    def __call__(self, prompt):
        return 3 * prompt.y.mean()

    @property
    def linear(self):
        return True

    def weights(self, moments):
        return jnp.zeros(moments.d)


class WrongForm(AbstractLinearPredictor):
    """Says that its weights are 0, and has others."""

    def weights(self, moments):
        return moments.xy / moments.n

    def gram_affine(self, d, n):
        return Merged(jnp.zeros(d), jnp.zeros((d, d + 1, d + 1)))


class Solves(AbstractLinearPredictor):
    """Ridge regression by two calls of LAPACK, which hang when they are batched on few cores."""

    def weights(self, moments):
        ridge = moments.xx + 0.25 * jnp.eye(moments.d)
        return jnp.linalg.solve(ridge, moments.xy) + jnp.linalg.pinv(ridge, hermitian=True) @ moments.xy


@pytest.mark.parametrize(("made", "name"), [(Boasts(), "weights"), (WrongForm(), "gram_affine")])
@pytest.mark.parametrize("method", ["auto", "exact", "moments", "tokens"])
def test_a_predictor_that_contradicts_itself_is_refused(made, name, method):
    with pytest.raises(ValueError, match=f"by its {name}; expected the same"):
        risk(made, TASK, method, samples=64)


class TooMany(AbstractLinearPredictor):
    """A weight for the label, too."""

    def weights(self, moments):
        return moments.gram[-1] / moments.n


def test_weights_of_another_shape_are_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"the weights of TooMany have shape \(3,\); expected \(2,\)"):
        risk(TooMany(), TASK)


def test_somebody_elses_lapack_does_not_hang():
    found = risk(Solves(), TASK, samples=16_384)
    tokens = risk(Solves(), TASK, "tokens", samples=16_384)
    assert found.method == "moments"
    assert abs(found.value - tokens.value) < 5 * np.hypot(found.standard_error, tokens.standard_error)


def test_lapack_is_found_wherever_it_is_called():
    eye = jnp.eye(3)
    assert calls_lapack(lambda a: jnp.linalg.pinv(a, hermitian=True), eye)
    assert calls_lapack(lambda a: jax.jit(lambda b: jnp.linalg.solve(b, b[0]))(a), eye)
    assert calls_lapack(lambda a: jax.lax.scan(lambda c, _: (jnp.linalg.cholesky(c), None), a, None, 2)[0], eye)
    assert not calls_lapack(lambda a: eigh(a)[0], eye)
    assert not calls_lapack(lambda a: a @ a, eye)


def test_a_sampled_risk_says_why_it_is_not_exact():
    task = LinearRegression(2, 6, StudentTPrior(jnp.zeros(2), jnp.eye(2), 1.5), noise=0.5)
    assert "freedom" in risk(Zero(), task, samples=64).note
    assert risk(Zero(), TASK).note == ""


class OneForAll(AbstractLabelNoise):
    """One number for all labels: not what a law of label noise is."""

    def sample(self, n, *, key):
        del n
        return jax.random.normal(key, ())


class Loud(AbstractLabelNoise):
    """Of variance 4."""

    def sample(self, n, *, key):
        return 2 * jax.random.normal(key, (n,))

    def moments(self):
        return LabelMoments(4.0, 0.0, 48.0)


def test_laws_of_another_shape_or_size_are_refused():
    with pytest.raises(ValueError, match=r"what labels drew has shape \(\); expected \(6,\)"):
        LinearRegression(2, 6, labels=OneForAll()).sample(key=jax.random.key(0))
    with pytest.raises(ValueError, match="labels has variance 4"):
        LinearRegression(2, 6, labels=Loud())
