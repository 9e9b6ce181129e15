"""Adam on many members, and how often programs are traced."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import (
    FixedNoise,
    LinearRegression,
    UniformInputs,
    Unknown,
    attention as at,
    risk,
)
from descant.tasks import parse_noise
from descant.training import AdamTrainer, _adam, make_model, train
from descant.training._least_squares import LeastSquares
from descant.training._pool import Contexts, draw_pool
from tests.support.training_tasks import TASK


def finished(trainer):
    state = trainer.init()
    while not trainer.finished(state):
        state, _ = trainer.advance(state)
    return state


@pytest.mark.parametrize("name", ["elsa", "softmax", "lsa"])
def test_adam_lowers_the_risk_of_token_models(name, relaxed):
    law = LinearRegression(2, 5, inputs=UniformInputs(-1.0, 1.0))
    settings = {"query_masked": False} if name == "lsa" else {}
    model = make_model(name, law, key=jax.random.key(0), **settings)
    found = train(model, law, solver="adam", objective="query", steps=150, batch=128, lr=1e-2, samples=4096)
    before = risk(model, law, samples=4096)
    assert found.risk.value < before.value - 4 * found.risk.standard_error


def test_members_train_as_they_would_alone(relaxed):
    """Seeds, tasks and step sizes in one program: each member goes the way it goes alone under its own key."""
    laws = [LinearRegression(3, 8, noise=FixedNoise(sigma)) for sigma in (0.0, 1.0)]
    models = [at.FreeDiag.random(2, key=jax.random.key(seed), scale=0.01) for seed in (0, 1)]
    settings = {"objective": "weights", "key": jax.random.key(5), "steps": 20, "batch": 64, "dtype": jnp.float64}
    both = AdamTrainer(models, laws, lr=[1e-3, 3e-3], **settings)
    alone = AdamTrainer(models[0], laws[0], lr=1e-3, **settings)
    together = both.members(finished(both))
    single = alone.members(finished(alone))[0]
    for one, other in zip(jax.tree.leaves(together[0]), jax.tree.leaves(single), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert not eqx.tree_equal(together[0], together[1])


def test_noise_laws_of_all_kinds_train_in_one_program_as_they_would_alone(relaxed):
    noises = [parse_noise(law) for law in ("0", "uniform:5", "1,3", "1,3,5", "uniform:2")]
    laws = [LinearRegression(3, 8, noise=noise) for noise in noises]
    model = at.FreeDiag.random(2, key=jax.random.key(0), scale=0.01)
    settings = {"objective": "query", "steps": 10, "batch": 64, "dtype": jnp.float64, "lr": 1e-2}
    key = jax.random.key(5)
    together = AdamTrainer([model] * len(laws), laws, key=key, **settings)
    members = together.members(finished(together))
    # A member's draws depend on its place: alone, it stands behind copies of itself.
    for index in (1, 3):
        alone = AdamTrainer([model] * (index + 1), [laws[index]] * (index + 1), key=key, **settings)
        single = alone.members(finished(alone))[index]
        for one, other in zip(jax.tree.leaves(members[index]), jax.tree.leaves(single), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
    with pytest.raises(ValueError, match="posterior objective can't be shared"):
        finished(AdamTrainer([model] * 5, laws, key=key, **{**settings, "objective": "posterior"}))


def test_contexts_of_any_length_where_moments_are_drawn(relaxed):
    """Moments of a million tokens take no more memory than those of twenty; tokens do, and are refused."""
    endless = LinearRegression(3, 100_000_000)
    model = at.GDPlusPlusTransformer.random(1, key=jax.random.key(1), scale=1e-9)
    settings = {"key": jax.random.key(0), "steps": 5, "batch": 64, "lr": 1e-10}
    state = finished(AdamTrainer(model, endless, objective="weights", **settings))
    assert np.isfinite(state.info["losses"]).all()
    for law, objective in (
        (endless, "query"),
        (LinearRegression(3, 100_000_000, inputs=UniformInputs(-1.0, 1.0)), "weights"),
    ):
        with pytest.raises(Unknown, match="of memory, and"):
            AdamTrainer(model, law, objective=objective, **settings)


def test_members_must_be_alike():
    models = [at.FreeDiag.random(layers, key=jax.random.key(0)) for layers in (1, 2)]
    with pytest.raises(ValueError, match="differ in kind or in shape"):
        AdamTrainer(models, TASK, key=jax.random.key(0))
    with pytest.raises(ValueError, match="2 models, 2 tasks and 3 step sizes"):
        AdamTrainer(models, TASK, key=jax.random.key(0), lr=[1.0, 1.0, 1.0])


def test_programs_are_traced_once(relaxed):
    """Other seeds, step sizes and noise levels of the same shapes compile nothing new."""
    traces = []
    original = _adam.batch_loss
    _adam.batch_loss = lambda *arguments: traces.append(1) or original(*arguments)
    try:
        for seed, sigma in ((0, 0.5), (1, 2.0)):
            law = LinearRegression(3, 8, noise=FixedNoise(sigma))
            model = at.GDPlusPlusTransformer.random(2, key=jax.random.key(seed))
            finished(
                AdamTrainer(model, law, key=jax.random.key(seed), steps=30, chunk=10, batch=16, lr=0.01 * (seed + 1))
            )
    finally:
        _adam.batch_loss = original
    assert len(traces) == 1


def test_least_squares_are_traced_once_per_shape(few_draws):
    traces = []
    original = Contexts.residual
    # A class attribute: the compiled programs look it up when they are traced, and only then.
    try:
        Contexts.residual = lambda self, model, root: traces.append(1) or original(self, model, root)
        counts = []
        for sigma in (0.5, 2.0):
            law = LinearRegression(3, 9, noise=FixedNoise(sigma))
            problem = LeastSquares(
                at.FreeDiag.random(2, key=jax.random.key(0)),
                draw_pool("posterior", law, 1, jax.random.key(0)),
                jnp.eye(3),
            )
            problem.step(problem.start(0.01 * np.ones(8)))
            counts.append(len(traces))
    finally:
        Contexts.residual = original
    assert counts[0] > 0
    assert counts[1] == counts[0]
