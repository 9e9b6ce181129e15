"""One layer trained on the moments of sampled contexts: any law of inputs, in one pass."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression, UniformInputs, UniformNoise
from descant.attention import LSA, MergedLTB
from descant.measure import best, risk
from descant.tasks import AbstractInputs
from descant.training import PopulationTrainer, choose, train
from descant.training._sampled_moments import CHUNK, sampled_moments

TASK = LinearRegression(3, 6, GaussianPrior.isotropic(3, 0.5), inputs=UniformInputs(-1.0, 2.0), noise=UniformNoise(1.0))


class _Shells(AbstractInputs):
    """Inputs whose second moment is known, and nothing else."""

    def check(self, d):
        del d

    def sample(self, d, *, key):
        return jax.random.normal(key, (d,))

    def second_moment(self, d):
        return jnp.eye(d)


def test_the_risk_is_the_mean_over_the_very_contexts_that_were_drawn(keys):
    key = keys()
    count = CHUNK + 1  # rounded up to two chunks
    moments = sampled_moments(TASK, count, key=key)
    offset, tensor = (jax.random.normal(keys(), shape) for shape in ((3,), (3, 4, 4)))
    losses = []
    for index in range(2):
        numbers = jax.random.normal(jax.random.fold_in(key, index), (CHUNK * TASK.numbers,)).reshape(CHUNK, -1)
        prompts = jax.vmap(TASK.place)(numbers)
        tokens = np.concatenate([prompts.x, prompts.y[:, :, None]], axis=2)
        grams = np.einsum("bni,bnj->bij", tokens, tokens) / TASK.n
        gaps = np.asarray(prompts.w) - np.asarray(offset) - np.einsum("lij,bij->bl", tensor, grams)
        losses.append(np.einsum("bi,ij,bj->b", gaps, TASK.inputs.second_moment(3), gaps))
    np.testing.assert_allclose(moments.risk(offset, tensor), np.mean(losses), rtol=1e-10)


def test_the_choice_says_whether_the_risk_is_exact():
    model = LSA.random(3, key=jax.random.key(0))
    assert "exactly" in choose(model, LinearRegression(3, 6)).reason
    assert "exactly" in choose(model, TASK).reason
    no_moments = LinearRegression(3, 6, inputs=_Shells())
    assert "not linear" not in choose(model, no_moments).reason
    assert "sampled contexts" in choose(model, no_moments).reason


@pytest.mark.parametrize("kind", [LSA, MergedLTB])
def test_on_gaussian_inputs_sampled_contexts_lead_to_the_exact_optimum(kind):
    task = LinearRegression(3, 6, GaussianPrior.isotropic(3, 1.0), noise=FixedNoise(0.5))
    model = kind.random(3, key=jax.random.key(1))
    exact = train(model, task)
    trainer = PopulationTrainer(model, task, key=jax.random.key(2), contexts=2**15)
    state = trainer.init()
    while not trainer.finished(state):
        state, _ = trainer.advance(state)
    # The excess of a fit of p numbers to N contexts is about p / (3 N) of the risk: well below a thousandth here.
    assert risk(trainer.model(state), task).value == pytest.approx(exact.risk.value, rel=1e-3)


def test_on_uniform_inputs_the_optimum_beats_the_best_gradient_step_and_stands_still():
    task = LinearRegression(3, 6, inputs=UniformInputs(-1.0, 1.0))
    found = train(LSA.random(3, key=jax.random.key(3)), task, contexts=2**14, random_starts=2, samples=2**15)
    gd = best("gd", LinearRegression(3, 6))  # its step is for inputs of another size
    assert found.choice.solver == "population"
    assert found.risk.value + 5 * found.risk.standard_error < risk(gd, task).value
    again = train(found.model, task, contexts=2**14, random_starts=0, samples=2**15)
    assert jnp.allclose(again.risk.value, found.risk.value, rtol=1e-6)
