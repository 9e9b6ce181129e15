"""A tiny model from a GGUF file: its weights come through whole, and every way to batch prompts gives one answer."""

import re

import numpy as np
import pytest

from descant.llm import Scale, build, find_template, open_model
from descant.llm._pairs import Pair
from tests.support.commands import run
from tests.support.llm_data import benchmark, write_data
from tests.support.tiny_gguf import HEADS, WIDTH, write_tiny

for _needed in ("torch", "transformers", "gguf", "accelerate"):
    pytest.importorskip(_needed, reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The model, what was said, and the tensors that were written; in shards of 16 kB."""
    home = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        patch.setattr("descant.llm._convert.SHARD", 2**14)
        tensors = write_tiny(home / "tiny.gguf")
        said = []
        model = open_model(str(home / "tiny.gguf"), dtype="float32", device="cpu", say=said.append)
        assert len(list(home.glob("cache/descant/models/converted-*/model-*.safetensors"))) > 3
    return model, said, tensors


def interleaved(matrix):
    """Rows of queries and keys as GGUF has them: llama.cpp turns neighbours, transformers turns halves."""
    return matrix.reshape(HEADS, 2, WIDTH // HEADS // 2, WIDTH).swapaxes(1, 2).reshape(WIDTH, WIDTH)


def test_weights_of_a_gguf_file_come_through(opened):
    model, said, tensors = opened
    found = {name: value.numpy() for name, value in model.model.state_dict().items()}
    assert len(found) == len(tensors)
    places = {"attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_up": "mlp.up_proj"}
    for name, there in places.items():
        np.testing.assert_array_equal(found[f"model.layers.0.{there}.weight"], tensors[f"blk.0.{name}.weight"])
    np.testing.assert_array_equal(found["lm_head.weight"], tensors["output.weight"])
    np.testing.assert_array_equal(found["model.norm.weight"], tensors["output_norm.weight"])
    for name, there in (("attn_q", "q_proj"), ("attn_k", "k_proj")):
        ours = found[f"model.layers.1.self_attn.{there}.weight"]
        np.testing.assert_array_equal(interleaved(ours), tensors[f"blk.1.{name}.weight"])
    assert any("MB" in sentence or "GB" in sentence for sentence in said)


def test_a_command_says_what_is_ours_and_nothing_else(opened, tmp_path, capfd, monkeypatch, caplog):
    """The libraries that load a model have bars, warnings and advice of their own."""
    from transformers.utils import logging as theirs  # pyright: ignore[reportMissingImports]

    theirs.set_verbosity_info()
    theirs.enable_progress_bar()
    write_tiny(tmp_path / "mine.gguf", seed=1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = write_data(tmp_path / "data")
    where = ("--data", str(data), "--model", str(tmp_path / "mine.gguf"), "--out", str(tmp_path / "out"))
    asked = ("--queries", "2", "--shots", "1", "--guess", "none,jaccard", "--template", "terse", "--device", "cpu")
    status, _, err = run("llm", "sts", *where, *asked, "--dtype", "float32", capsys=capfd)
    assert status == 0
    ours = r"(taking the digest of|converting) mine\.gguf|mine: |\d+ s for what was missing|Written: "
    assert [line for line in err.splitlines() if not re.match(ours, line)] == []
    assert caplog.records == []


def test_a_gpus_batches_give_the_answers_of_a_cpus(opened, tmp_path):
    """Many prompts in one pass, read whole and padded, beside one at a time with a common beginning read once."""
    model, _, _ = opened
    data = benchmark(tmp_path / "data")
    asked = [
        build(TERSE, data.train[3 * draw : 3 * draw + 3], Pair(each.pair.first * (1 + row), each.pair.second))
        for draw in range(2)
        for row, each in enumerate(data.asked[:5])
    ]
    here = dict(model.replies(asked, TERSE, SCALE))
    assert len(model._cached) == 2
    like_a_gpu = type(model)(model.model, model.tokenizer, name="tiny", identity="x")
    like_a_gpu._on_cpu, like_a_gpu._budget = False, 32768
    passes, forward = [], like_a_gpu._forward
    like_a_gpu._forward = lambda ids, *rest: passes.append(len(ids)) or forward(ids, *rest)
    there = dict(like_a_gpu.replies(asked, TERSE, SCALE))
    assert passes == [10] and not like_a_gpu._cached
    for index, reply in here.items():
        assert there[index].probabilities == pytest.approx(reply.probabilities, abs=1e-5)
        assert there[index].along == pytest.approx(reply.along, abs=1e-5)
        assert there[index].answer == pytest.approx(reply.answer, abs=1e-5)
    # Where a common beginning fills passes of its own, it is read once there, too.
    like_a_gpu._budget = 512
    shared = dict(like_a_gpu.replies(asked, TERSE, SCALE))
    assert len(like_a_gpu._cached) == 2
    assert [shared[i].answer for i in range(10)] == pytest.approx([here[i].answer for i in range(10)], abs=1e-5)
