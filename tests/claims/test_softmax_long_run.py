"""The long run of softmax transformers on a GPU: its program is Descant's, and its page says what was found."""

import itertools
import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import softmax_blocks as gpu
from descant.claims import find, long_run
from descant.claims.ltb import _blocks
from descant.tasks import Prompt
from tests.support.claims_lab import run

SIZE = _blocks.SMALL._replace(d=3, n=5, depth=2, gpt2=True)
OUTER = {
    "embed.weight": "embed_w",
    "embed.bias": "embed_b",
    "place": "place",
    "final_norm.weight": "final_w",
    "final_norm.bias": "final_b",
    "readout.weight": "read_w",
    "readout.bias": "read_b",
}


@pytest.mark.slow
@pytest.mark.usefixtures("relaxed")
def test_what_the_gpu_trains_is_the_softmax_transformer(monkeypatch):
    """The long run's own program, tiny: its predictions, and its attention's kernel with the way back."""
    for name, value in {"D": 3, "N": 5, "TOKENS": 6, "DEPTH": 2, "HEADS": 2, "ROWS": 8}.items():
        monkeypatch.setattr(gpu, name, value)
    with jax.enable_x64(False):
        p = {name: 10 * leaf[None] for name, leaf in gpu.random_weights(8, "relu", 0).items()}
        x, y, _ = gpu.prompts(jax.random.key(0), jnp.ones(1), 4)
        own = jax.jit(lambda p, x, y: gpu.predict(p, x, y, jnp.float32, gpu.attend_plain))(p, x, y)
        model = with_weights(_blocks.network(SIZE, 8, "relu", jax.random.key(1)), p)
        theirs = jax.jit(jax.vmap(lambda x, y: model(Prompt(x[:-1], y[:-1], x[-1]))))(x[0], y[0])
        assert np.allclose(own[0], np.asarray(theirs), rtol=1e-4, atol=1e-5)
        rows = jax.random.normal(jax.random.key(2), (4 * 6, 3 * 8))
        (plain, back), (fused, fused_back) = (jax.vjp(each, rows) for each in (gpu.attend_plain, gpu.attend_fused))
        slope = jax.random.normal(jax.random.key(3), plain.shape)
        # Off a GPU the kernel is interpreted, which shifts the last prompt's rows.
        assert np.allclose(plain[:18], fused[:18], atol=1e-5)
        assert np.allclose(back(slope)[0][:18], fused_back(slope)[0][:18], atol=1e-5)


@pytest.mark.slow
def test_what_the_long_run_decides_and_what_it_leaves_open(tmp_path):
    """Networks without MLP learn, which refutes words of a transcription; by how much they differ stays open."""
    found = run("softmax-blocks", tmp_path)
    outcomes = {(check.against, check.outcome) for check in found.checks}
    open_ = {("with", "undecided"), ("larger", "undecided")}
    assert outcomes == {("zero", "passes"), ("control", "passes"), ("without", "refutes"), *open_}
    assert found.decisive.against == "without" and found.long_runs
    assert find(["softmax-blocks"])["softmax-blocks"].standing(found.verdict) == "not-in-ours"


def test_the_page_of_the_long_run_says_what_its_curves_show():
    """Numbers in the words of `softmax_blocks.SEEN`."""
    shipped = long_run("softmax-blocks")
    assert shipped is not None
    trainings = {
        (each.width, each.mlp): each
        for each in (_blocks.Training(**raw) for raw in shipped.numbers["trainings"])
        if each.schedule == "constant"
    }
    without, with_mlp, narrow, stopped = (trainings[key] for key in itertools.product((128, 64), _blocks.MLPS))
    curves = {key: {row[0]: row[1:] for row in each.curve} for key, each in trainings.items()}
    assert [len(each.values) for each in (without, with_mlp, narrow, stopped)] == [5, 5, 3, 3]
    assert [each.steps for each in (without, with_mlp, narrow, stopped)] == [200_000, 200_000, 200_000, 70_000]
    # On the plateau, and off it.
    plateau, after = curves[128, "none"][40_000], curves[128, "none"][50_000]
    assert 19.5 < min(plateau) < max(plateau) < 21.5 and max(after) < 16
    assert 7 < min(curves[128, "relu"][40_000]) < max(curves[128, "relu"][40_000]) < 8
    assert min(curves[64, "none"][60_000]) > 19.5 and max(curves[64, "none"][130_000]) < 15
    # All below the best linear block; kinds closer than seeds.
    assert max(without.values + with_mlp.values + narrow.values) < 6.8
    assert (round(min(with_mlp.values), 2), round(max(with_mlp.values), 2)) == (0.16, 4.28)
    ratios = [np.log(min(a.values) / max(b.values)) for a, b in ((without, with_mlp), (with_mlp, without))]
    assert np.allclose(np.exp(ratios), (1 / 4, 1 / 19), rtol=0.08)
    # Not at an end.
    assert curves[128, "none"][164_000][0] < 2.4 and curves[128, "none"][166_000][0] > 6.3


def with_weights(model, p):
    """A `SoftmaxTransformer` with the weights of the long run's program."""

    def put(owner, path, value):
        return eqx.tree_at(operator.attrgetter(path), owner, jnp.asarray(value))

    for path, name in OUTER.items():
        value = p[name][0].T if name == "embed_w" else p[name][0]
        model = put(model, path, value.reshape(operator.attrgetter(path)(model).shape))
    for layer in range(model.depth):
        block = model.blocks[layer]
        parts = zip(("query_proj", "key_proj", "value_proj"), np.split(p[f"qkv{layer}"][0], 3, axis=1), strict=True)
        for part, weight in (*parts, ("output_proj", p[f"out{layer}"][0])):
            block = put(block, f"attention.{part}.weight", weight.T)
        for path, name in {"attention_norm": "norm", "mlp_norm": "mlp_norm"}.items():
            if f"{name}_w{layer}" in p:
                block = put(block, f"{path}.weight", p[f"{name}_w{layer}"][0])
                block = put(block, f"{path}.bias", p[f"{name}_b{layer}"][0])
        for path, name in {"mlp_in": "in", "mlp_out": "back"}.items():
            if f"{name}{layer}" in p:
                block = put(block, f"{path}.weight", p[f"{name}{layer}"][0].T)
                block = put(block, f"{path}.bias", p[f"{name}_b{layer}"][0])
        model = eqx.tree_at(lambda model, layer=layer: model.blocks[layer], model, block)
    return model
