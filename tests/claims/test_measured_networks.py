"""Networks and estimators measured by NumPy are those of the package; what is shipped is what the claims look at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.attention import Axial, Diag, Full, layer_states
from descant.claims import Lab
from descant.claims.linear_transformer import _dense, _measured, _training
from descant.claims.linear_transformer._networks import is_shipped, networks, shipped
from descant.claims.linear_transformer._printed import PRINTED_LAWS
from descant.estimators import AdaRidge, Bayes, ConstRidge, TunedRidge
from descant.tasks import LinearRegression, Moments, parse_noise

D, N, TUNING = 3, 13, (1.2, 4.0)
FEW = {"d": D, "n": N, "level_samples": 64, "seed": 0}


def contexts(law: str, count: int = 6) -> _measured.Contexts:
    return _measured.draw(law, D, N, count, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["diag", "axial", "full"])
def test_answers_after_every_layer_are_those_of_theorem_4_1(kind):
    key = jax.random.key(1)
    numbers = 0.02 * jax.random.normal(key, (4, 3, 1))
    model = {
        "diag": Diag(*numbers),
        "axial": Axial.random(3, axes=2, key=key, scale=0.02),
        "full": Full.random(D, 3, key=key, scale=0.02),
    }[kind]
    gram = contexts("1,3").gram
    found = _measured.weights_after(_measured._layers(model, D), gram)
    expected = jax.vmap(lambda each: layer_states(model, Moments(each, N)).w[1:])(jnp.asarray(gram))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("law", ["1,3", "uniform:5", "2"])
def test_estimators_are_those_of_the_package(law):
    drawn = contexts(law)
    task = LinearRegression(D, N, noise=parse_noise(law))
    prior = ConstRidge.best(task).prior
    estimators = ConstRidge.best(task), AdaRidge.of(task), TunedRidge(prior, *TUNING), Bayes.of(task)
    for found, estimator in zip(_measured.estimates(drawn, law, TUNING), estimators, strict=True):
        there = np.einsum("cij,cj->ci", drawn.vectors, found)
        expected = jax.jit(jax.vmap(lambda each, own=estimator: own.weights(Moments(each, N))))(jnp.asarray(drawn.gram))
        # The quadrature over a uniform law leaves out a probability of 1e-8.
        np.testing.assert_allclose(there, expected, atol=1e-6 if law == "uniform:5" else 1e-10)


def test_contexts_are_those_of_the_law():
    drawn = _measured.draw("1,3", D, N, 20_000, np.random.default_rng(1))
    yy = drawn.gram[:, -1, -1]
    assert abs(yy.mean() - N * (D + 5)) < 4 * yy.std() / 20_000**0.5
    spread = drawn.residual / drawn.sigma**2  # chi squared with n - d degrees of freedom
    assert abs(spread.mean() - (N - D)) < 4 * spread.std() / 20_000**0.5
    assert set(drawn.sigma) == {1.0, 3.0}
    assert drawn.freedom == N - D


def test_ratios_have_the_error_of_what_both_saw():
    model = Diag(*(0.01 * jnp.ones((4, 2, 1))))
    twice = {"one": model, "two": model}
    measured = _measured.measure(
        twice, "1,3", d=D, n=N, sigmas=[2.0], beside=True, samples=512, level_samples=64, seed=0
    )
    same = measured.ratio("one", "two")
    assert (same.value, same.error, same.freedom) == (1.0, 0.0, _measured.BLOCKS - 1)
    against = measured.ratio("one", "bayes")
    alone = _measured.ratio(measured.ordinary_mean("one"), measured.ordinary_mean("bayes"))
    assert against.value == pytest.approx(alone[0]) and against.error > 0
    assert measured.profile("one", 1)[0] != measured.profile("one", 2)[0]


def test_what_explodes_is_counted_and_left_out():
    wild = Diag(*(10.0 * jnp.ones((4, 6, 1))))
    measured = _measured.measure(
        {"w": wild}, "1,3", d=D, n=N, sigmas=[], beside=False, samples=64, level_samples=2, seed=0
    )
    assert measured.exploding_share("w") == 1.0 and measured.ordinary_mean("w") == (0.0, 0.0)
    assert not np.isfinite(measured.mean("w")[0])


def test_the_shipped_networks_are_of_all_laws():
    assert all(is_shipped(law) for law in PRINTED_LAWS)
    assert {"full", "axial", "near", "free", "without-w_yy"} < set(shipped().numbers["networks"]["1,3"])


def test_units_of_adam_are_left_as_they_were_entered():
    task = _training.task_of("1,3")
    model = Full.random(task.d, 2, key=jax.random.key(3), scale=0.05)
    there = _dense.to_units(model, task)
    back = _dense.from_units(there, task)
    np.testing.assert_allclose(back.p, model.p, rtol=1e-12)
    gram = _measured.draw("1,3", task.d, task.n, 2, np.random.default_rng(2)).gram
    scale = np.asarray(_dense.units(task))
    scaled = gram * scale[:, None] * scale / task.n
    for each, other in zip(gram, scaled, strict=True):
        expected = model.weights(Moments(jnp.asarray(each), task.n)) * scale[-1]
        np.testing.assert_allclose(there.weights(Moments(jnp.asarray(other), task.n)), expected, rtol=1e-10)


def test_dense_weights_are_trained_and_the_better_start_is_kept(monkeypatch):
    monkeypatch.setattr(_dense, "CHUNK", 20)
    monkeypatch.setattr(_dense, "RATE", 0.02)
    task = LinearRegression(2, 6, noise=parse_noise("1,3"))
    starts = {"full 1": lambda: [_dense.random_dense(1, task, jax.random.key(seed)) for seed in range(2)]}
    trainer = _dense.DenseTrainer(task, starts, seed=0, steps=40, pieces=1)
    state, losses = trainer.init(), []
    while not trainer.finished(state):
        state, rows = trainer.advance(state)
        losses.append(rows[-1]["loss"])
    assert losses[-1] < losses[0] and list(trainer.found(state)) == ["full 1"]
    assert trainer.model(state).p.shape == (1, 1, 3, 3)


@pytest.mark.slow
def test_networks_are_trained_afresh_if_they_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr("descant.claims.linear_transformer._networks.SAMPLES", (2_048, 2_048))
    monkeypatch.setattr("descant.claims.linear_transformer._networks.LEVEL_SAMPLES", (64, 64))
    monkeypatch.setitem(_training.SHORT, "pieces", 1)
    monkeypatch.setitem(_training.SHORT, "random_starts", 0)
    lab = Lab(tmp_path / "claim", tmp_path / "runs")
    fresh, kept = (networks(lab, "1,3", layers=1, afresh=afresh) for afresh in (True, False))
    assert list(fresh.models) == ["gd++ 1", "diag 1"] == list(kept.models)
    assert fresh.note is None and kept.note is not None
    ratio = fresh.measured.ratio("diag 1", "diag 1", other=kept.measured)
    assert ratio.value == pytest.approx(1, abs=0.01)
