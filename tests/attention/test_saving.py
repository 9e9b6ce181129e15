"""Models on disk, and models in PyTorch."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from descant import attention as at
from descant._tensors import to_bytes
from tests.support.models import MODELS, draw_prompt, make, named


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("name", named(MODELS))
def test_save_and_load_is_the_identity(name, dtype, tmp_path):
    model = make(name, dtype=dtype)
    at.save(model, tmp_path / "model.safetensors")
    loaded = at.load(tmp_path / "model.safetensors")
    assert eqx.tree_equal(loaded, model)
    assert jax.tree.structure(loaded) == jax.tree.structure(model)
    assert at.to_bytes(loaded) == at.to_bytes(model)


def test_names_are_tree_paths(tmp_path):
    at.save(make("elsa"), tmp_path / "model.safetensors")
    names = set(safetensors.numpy.load_file(tmp_path / "model.safetensors"))
    assert "network.blocks.0.w1" in names
    at.save(make("yq-lsa"), tmp_path / "model.safetensors")
    assert set(safetensors.numpy.load_file(tmp_path / "model.safetensors")) == {"v", "u", "guess.g"}


def parts(name="yq-lsa"):
    """Tensors and description of a saved model, to be spoilt."""
    data = at.to_bytes(make(name))
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return safetensors.numpy.load(data), json.loads(header["__metadata__"]["descant"])


def written(path, tensors, config):
    path.write_bytes(to_bytes(tensors, {name: value for name, value in config.items() if name != "sha256"}))
    return path


def _drop(tensors, config):
    del tensors["u"]


def _extra(tensors, config):
    tensors["w"] = np.zeros(3)


def _shape(tensors, config):
    tensors["v"] = np.zeros((2, 7))


def _consistent_shape(tensors, config):
    tensors["v"] = np.zeros((2, 7))
    config["model"]["fields"]["v"]["array"] = [2, 7]


def _dtype(tensors, config):
    tensors["v"] = tensors["v"].astype(np.float32)


def _integer(tensors, config):
    tensors["v"] = tensors["v"].astype(np.int64)
    config["model"]["fields"]["v"]["dtype"] = "int64"


def _kind(tensors, config):
    config["model"]["kind"] = "os.system"


def _guess_kind(tensors, config):
    config["model"]["fields"]["guess"]["kind"] = "NoGuess"


def _module_for_array(tensors, config):
    config["model"]["fields"]["v"] = {"kind": "NoGuess", "fields": {}}


def _field(tensors, config):
    config["model"]["fields"]["colour"] = 3


def _switch(tensors, config):
    config["model"]["fields"]["normalized"] = "yes"


def _format(tensors, config):
    config["format"] = "descant-model-99"


def _list(tensors, config):
    config["model"] = [1, 2]


def _nothing(tensors, config):
    config["model"] = None


SPOILT = [
    (_drop, "tensor u is missing"),
    (_extra, "no place for: w"),
    (_shape, r"tensor v is float64 of shape \[2, 7\]"),
    (_consistent_shape, r"u has shape|v"),
    (_dtype, "tensor v is float32"),
    (_integer, "dtype of v is 'int64'"),
    (_kind, "unknown kind 'os.system'"),
    (_guess_kind, "fields of NoGuess: g"),
    (_module_for_array, "no place for|can't be a LSA"),
    (_field, "fields of LSA: colour"),
    (_switch, "normalized is 'yes'"),
    (_format, "format is not"),
    (_list, "no place for"),
    (_nothing, "no place for"),
]


@pytest.mark.parametrize(("spoil", "sentence"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
def test_spoilt_files_are_refused(spoil, sentence, tmp_path):
    tensors, config = parts()
    spoil(tensors, config)
    path = written(tmp_path / "model.safetensors", tensors, config)
    with pytest.raises(ValueError, match=sentence) as caught:
        at.load(path)
    assert str(path) in str(caught.value)


def test_softmax_files_are_checked_too(tmp_path):
    for change, sentence in (
        ({"width": 12}, "tensor"),
        ({"mlp": "eval"}, "mlp is 'eval'"),
        ({"dtype": "float16"}, "dtype"),
        ({"causal": 1}, "causal is 1"),
        ({"depth": 0}, "depth is 0"),
        ({"colour": 1}, "colour"),
    ):
        tensors, config = parts("softmax relu")
        config["model"]["fields"] |= change
        with pytest.raises(ValueError, match=sentence):
            at.load(written(tmp_path / "model.safetensors", tensors, config))


@pytest.mark.parametrize("keep", [0, 4, 20, 200, -1])
def test_truncated_files_are_refused(keep, tmp_path):
    data = at.to_bytes(make("full"))
    path = tmp_path / "model.safetensors"
    path.write_bytes(data[:keep])
    with pytest.raises(ValueError, match=r"model.safetensors can't be read: .*: save or train it again"):
        at.load(path)


def test_foreign_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors.numpy.save({"v": np.zeros(3)}))
    with pytest.raises(ValueError, match=r"Descant did not write it; expected a model that Descant saved"):
        at.load(path)
    with pytest.raises(ValueError, match="does not exist"):
        at.load(tmp_path / "nothing.safetensors")


def test_only_known_kinds_are_saved(tmp_path):
    with pytest.raises(ValueError, match="can't be saved"):
        at.save(eqx.nn.Linear(2, 2, key=jax.random.key(0)), tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", named(MODELS))
def test_torch_module_has_the_same_output(name):
    torch = pytest.importorskip("torch")
    model = make(name)
    module = at.to_torch(model, d=3)
    prompts = [draw_prompt(seed) for seed in range(4)]
    fields = [np.stack([np.asarray(getattr(p, part)) for p in prompts]) for part in ("x", "y", "x_query", "guess")]
    with torch.no_grad():
        out = module(*(torch.from_numpy(field) for field in fields)).numpy()
    np.testing.assert_allclose(out, [float(model(prompt)) for prompt in prompts], rtol=1e-10)
    assert all(parameter.requires_grad for parameter in module.parameters())


def test_torch_form_is_refused_in_a_sentence():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="d is missing"):
        at.to_torch(make("diag"))
    with pytest.raises(ValueError, match="no PyTorch form"):
        at.to_torch(eqx.nn.Linear(2, 2, key=jax.random.key(0)))
