"""Algorithms are recovered from trained models to 2%: by theory where it knows the optimum, else from a teacher."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import GaussianPrior, LinearRegression, attention as at, best, estimators as es
from descant.readout import explain
from descant.readout._residuals import chebyshev_roots, heavy_ball_steps
from descant.tasks import AbstractTask, Posterior, parse_inputs
from descant.training import train

D, N = 2, 8
CLOSE = {"rtol": 0.02, "atol": 0.02}
STEEP = parse_inputs("gaussian", D, 4.0, None)


class Imitation(AbstractTask):
    """Contexts of a law, and a teacher's weight vector for what is to be predicted."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    law: LinearRegression
    teacher: es.GD | es.GDPlusPlus

    def sample(self, *, key):
        return self.law.sample(key=key)

    def sample_moments(self, *, key):
        return self.law.sample_moments(key=key)

    @property
    def moments_take_tokens(self):
        return False

    def query_metric(self):
        return self.law.query_metric()

    def posterior(self, moments, sigma=None):
        return Posterior(self.teacher.weights(moments), jnp.zeros((self.d, self.d)), jnp.zeros(self.d))


def trained(kind, task, **options):
    model = at.make_model(kind, task, key=jax.random.key(3), **options)
    return train(model, task, samples=64).model


def test_one_step_of_gradient_descent():
    task = LinearRegression(D, N, noise=0.5)
    found = explain(trained("lsa", task), task, contexts=128)
    assert found.match.algorithm == "gradient descent"
    assert found.verdict in ("is", "is nearly")
    np.testing.assert_allclose(found.match.parameters["step"], float(best("gd", task).steps[0]), **CLOSE)


def test_a_preconditioner():
    task = LinearRegression(D, N, inputs=STEEP, noise=0.5)
    found = explain(trained("lsa", task), task, contexts=128)
    assert found.match.algorithm == "preconditioned gradient descent"
    np.testing.assert_allclose(found.match.parameters["gamma"], best("preconditioned-gd", task).gamma, **CLOSE)


@pytest.mark.parametrize("kind", ["yq-lsa", "ltb"])
def test_gd_beta(kind):
    task = LinearRegression(D, N, prior=GaussianPrior.isotropic(D, mean=1.0), inputs=STEEP, noise=0.5)
    found = explain(trained(kind, task), task, contexts=128)
    assert found.match.algorithm == "GD-beta"
    step = found.one_step
    assert step.start_off < 0.02
    assert step.gamma_off < 0.02
    np.testing.assert_allclose(step.true_gamma, best("gd-beta", task).gamma)


TEACHERS = {
    "GD++": (es.GDPlusPlus([0.05, 0.08], [0.03, 0.0]), 2, {"step": [0.4, 0.64], "contraction": [0.24, 0.0]}),
    "heavy ball": (es.GD(jnp.zeros(D), heavy_ball_steps(0.5, 0.3, 3)), 3, {"step": 0.5, "momentum": 0.3}),
    "Chebyshev iteration": (es.GD(jnp.zeros(D), 1 / chebyshev_roots(0.3, 2.5, 3)), 3, {"low": 0.3, "high": 2.5}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEACHERS)
def test_pupils_of_a_teacher(name):
    teacher, layers, expected = TEACHERS[name]
    law = LinearRegression(D, N, noise=0.3)
    pupil = at.make_model("gd++", law, layers=layers, key=jax.random.key(1))
    found = train(pupil, Imitation(D, N, law, teacher), solver="lm", objective="posterior", samples=64)
    read = explain(found.model, law, contexts=256)
    assert read.match.algorithm == name, read.text
    for each, value in expected.items():
        np.testing.assert_allclose(read.match.parameters[each], value, **CLOSE)
