"""Sentences say what was measured: errors of what is fitted, ascent, steps with a penalty, shrinkage, a training."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from descant import AbstractLinearPredictor, GaussianPrior, LinearRegression, attention as at, estimators as es
from descant.attention._full import as_full
from descant.readout import explain, over_time
from descant.readout._algorithms import ALGORITHMS
from descant.readout._contexts import Contexts
from descant.readout._layers import layers_of
from descant.readout._match import question_of
from descant.readout._trace import traced
from descant.readout._words import layer_sentence

D, N = 2, 8
TASK = LinearRegression(D, N, noise=0.5)


class Penalised(AbstractLinearPredictor):
    """Gradient descent on the ridge loss."""

    steps: int = eqx.field(static=True)
    size: float = 0.3
    penalty: float = 2.0

    def weights(self, moments):
        def step(_, w):
            return w + self.size * (moments.xy - moments.xx @ w - self.penalty * w) / moments.n

        return jax.lax.fori_loop(0, self.steps, step, jnp.zeros(moments.d))


def test_standard_errors_are_the_spread_over_contexts():
    """A ridge regression fitted to four steps of descent, over forty draws of contexts."""
    sample = jax.jit(jax.vmap(lambda key: TASK.sample_moments(key=key).gram))
    ridge = next(each for each in ALGORITHMS if each.name == "ridge regression")
    found = []
    for seed in range(40):
        grams = np.asarray(sample(jax.random.split(jax.random.key(seed), 128)), float)
        contexts = Contexts(N, grams, None, np.eye(D))
        w = np.zeros((128, D))
        for _ in range(4):
            w = w + 0.3 * (contexts.alpha - np.einsum("bij,bj->bi", contexts.s, w))
        fit = ridge.fit(question_of(TASK, contexts, w, np.zeros(D), None))
        assert fit is not None
        found.append((fit.parameters["penalty"], fit.errors["penalty"]))
    values, errors = np.array(found).T
    # Forty draws tell a spread to 11%; three of these.
    assert abs(np.log(np.median(errors) / values.std(ddof=1))) < 0.4


def test_an_error_is_told_of_what_is_fitted_and_of_nothing_else():
    fitted = explain(es.ConstRidge(GaussianPrior.isotropic(D), 2.0), TASK, contexts=64)
    assert "±" not in fitted.sentence and fitted.verdict == "is"
    # Layers that are not diagonal, a little: nearly descent, and its sizes are fitted.
    full = as_full(at.gd_as_transformer(es.GD(jnp.zeros(D), [0.3, 0.2]), n=N), D)
    nearly = explain(at.Full(full.p, full.q @ jnp.diag(jnp.array([1.0, 1.05, 1.0]))), TASK, contexts=64)
    assert nearly.verdict == "is nearly" and " ± " in nearly.sentence.partition(";")[0], nearly.sentence
    assert all(each.error > 0 for each in nearly.penalties)


def test_steps_up_the_gradient_are_no_descent():
    def sentence(*sizes: float) -> str:
        return explain(at.gd_as_transformer(es.GD(jnp.zeros(D), list(sizes)), n=N), TASK, contexts=64).sentence

    assert sentence(-0.3) == "The network is gradient ascent: one step of size 0.3 (read off its weights)."
    assert "is gradient descent: 2 steps of sizes -0.3, 0.2, where a negative one goes up the gradient" in sentence(
        -0.3, 0.2
    )


def test_many_steps_with_a_penalty_are_no_doublings():
    found = explain(Penalised(11), TASK, contexts=64)
    assert (found.verdict, found.match.algorithm) == ("is", "gradient descent on the ridge loss")
    assert found.match.parameters["steps"] == 11
    np.testing.assert_allclose([found.match.parameters[name] for name in ("step", "penalty")], [0.3, 2.0], rtol=1e-6)
    # More than were tried: doublings fit, and the sentence says that steps would as well.
    many = explain(Penalised(128, 0.02, 0.5), TASK, contexts=64)
    assert (many.match.algorithm, many.match.parameters["steps"]) == ("ridge by Newton-Schulz", 7)
    assert any("answer as 128 steps of gradient descent on the same ridge loss do" in each for each in many.sentences)


def test_a_mean_shrinkage_where_noise_levels_are_not_known():
    model = at.FreeDiag(jnp.zeros(2), jnp.zeros(2), jnp.array([-0.05, -0.05]), jnp.array([-0.01, -0.02]))
    known = Contexts.draw(TASK, 64, jax.random.key(0))
    hidden = dataclasses.replace(known, sigma=None)
    there, here = (layers_of(traced(model, each), each)[1] for each in (known, hidden))
    assert here.shrinkage == ((None, *there.shrinkage[0][1:]),)
    words = layer_sentence(here)
    assert " on average" in words and "σ" not in words
    assert words.replace(" on average", " at σ = 0.5") == layer_sentence(there)


def gdpp(first: float, second: float, contraction: float = -0.02) -> at.GDPlusPlusTransformer:
    return at.GDPlusPlusTransformer(jnp.array([contraction, 0.0]), jnp.array([first, second]))


def test_over_time_says_what_the_looks_show():
    """Nothing is said of layers that a network did not have, of what diverged, or between two looks."""
    wild = at.GDPlusPlusTransformer(jnp.full(2, 1e200), jnp.full(2, 1e200))
    shallow = at.GDPlusPlusTransformer(jnp.zeros(1), jnp.array([-0.04]))
    looks = [(1, "1", wild), (2, "2", shallow), (3, "3", gdpp(-0.04, -0.01)), (4, "4", gdpp(-0.04, -0.1))]
    one, two, whole = over_time(looks, TASK, contexts=64).sentences
    assert one.endswith("from 3 on (of 4); at 2 the network has other layers.")
    assert two.endswith("within 5% (squared) of what it ends as only after 3 (of 4).")
    assert "The answer" in whole
    after, *_ = over_time([looks[0], *looks[2:]], TASK, contexts=64).sentences
    assert after.endswith("; at 1 the network diverges.")
    # A layer that only prepares inputs for the next adds nothing: its own changes are not followed.
    silent, *_ = over_time([(1, "1", gdpp(0.0, -0.1, 0.03)), (2, "2", gdpp(0.0, -0.1))], TASK, contexts=64).sentences
    assert silent == "Layer 1 adds nothing to the answer at the end; what else it does is not followed."
