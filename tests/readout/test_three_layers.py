"""Three-layer networks on two noise levels: what is said of them is what they do."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import descant
from descant import LinearRegression, attention as at
from descant.readout import explain
from descant.tasks import CategoricalNoise, FixedNoise

SHIPPED = Path(descant.__file__).parent / "claims" / "long_runs" / "linear-transformers"
D, N = 10, 20
TASK = LinearRegression(D, N, noise=CategoricalNoise(jnp.array([1.0, 3.0])))


def answers(model, sigma, count=512):
    """Weight vectors on contexts of one level that the read-out has not seen, and the contexts."""
    task = LinearRegression(D, N, noise=FixedNoise(sigma))
    moments = jax.jit(jax.vmap(lambda key: task.sample_moments(key=key)))(jax.random.split(jax.random.key(9), count))
    found = np.asarray(jax.jit(jax.vmap(model.weights))(moments))
    kept = (found**2).sum(axis=1) < 100 * D
    return found[kept], np.asarray(moments.gram)[kept]


def ridge(gram, penalty):
    return np.linalg.solve(gram[:, :-1, :-1] + penalty * np.eye(D), gram[:, :-1, -1:])[..., 0]


@pytest.fixture(scope="module", params=["1-3-diag-3", "1-3-axial-3"])
def read(request):
    model = at.load(SHIPPED / f"{request.param}.safetensors")
    return model, explain(model, TASK, contexts=512)


def test_the_penalties_in_its_sentence_are_those_that_it_uses(read):
    model, found = read
    sentence = next(each for each in found.sentences if "nearest ridge regression" in each)
    told = re.findall(r"([\d.]+) ± [\d.]+ at σ = ([\d.]+) \(right would be ([\d.]+)", sentence)
    assert [sigma for _, sigma, _ in told] == ["1", "3"]
    for penalty, sigma, right in told:
        w, gram = answers(model, float(sigma))

        def off(number, w=w, gram=gram):
            return ((w - ridge(gram, number)) ** 2).sum(axis=1).mean()

        # Nearer than with a third more or less, and than the other level's.
        assert off(float(penalty)) < min(off(1.33 * float(penalty)), off(0.75 * float(penalty)))
        assert off(float(penalty)) < off(10 - float(right))


def test_what_layers_take_away_is_what_is_measured(read):
    model, found = read
    layer = found.layers[1]
    told = re.search(r"shrunk by ([\d.]+)% ± [\d.]+% at σ = 3 and ([\d.]+)% ± [\d.]+% at σ = 1", layer.sentence)
    assert told is not None, layer.sentence
    p, q = (np.asarray(each) for each in model.dense(D))
    for sigma, percentage in ((3.0, told[1]), (1.0, told[2])):
        _, gram = answers(model, sigma)
        # By hand: the label's factor in the second layer, on tokens that have been through the first.
        first = np.eye(D + 1) + np.einsum("kij,bjl,klm->bim", p[0], gram, q[0])
        inner = first @ gram @ first.swapaxes(1, 2)
        factor = np.einsum("kj,bjl,kl->b", p[1, :, -1], inner, q[1, :, :, -1])
        assert -100 * factor.mean() == pytest.approx(float(percentage), rel=0.1)


def test_it_is_nearer_to_two_levels_than_to_any_single_algorithm(read):
    _, found = read
    best = {each.algorithm: each.share.value for each in found.matches}
    assert found.matches[0].algorithm == "the best two-level mixture"
    assert best["the best two-level mixture"] > best["ridge regression"] + 0.02
    assert found.verdict == "none of these"
    assert "two-level mixture" in found.sentence


def test_a_singled_out_input_carries_a_second_label(read):
    model, found = read
    if isinstance(model, at.Diag):
        assert not found.directions.singled_out
        return
    first = found.directions.singled_out[0]
    assert np.argmax(np.abs(first.vector)) == D - 1
    assert "a second label" in first.words[1]
    # Measured on tokens, one by one.
    prompt = TASK.sample(key=jax.random.key(4))
    tokens = np.asarray(model.tokens(prompt))[2, :-1]
    assert abs(np.corrcoef(tokens[:, D - 1], np.asarray(prompt.y))[0, 1]) > 0.5
