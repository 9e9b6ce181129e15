"""The real SmolLM2, from its wheel, on a few queries; and what it says through a server is what it says here."""

import json

import numpy as np
import pytest

from descant.llm import Endpoint, Scale, Setting, build, fetch, find_template, open_model, run
from descant.llm._convert import begins_with_bos
from descant.llm._local import ScoreTokens
from descant.llm._packaged import PACKAGED, digest_of
from descant.llm._similarity import load_encoder
from tests.support.llm_client import server
from tests.support.llm_data import benchmark

for _needed in ("torch", "transformers", "gguf", "accelerate", "httpx"):
    pytest.importorskip(_needed, reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))


@pytest.fixture(scope="module")
def model():
    """From the cache, or from the package index: 93 MB, once, and half a minute to convert."""
    return open_model("smollm2", dtype="float32")


@pytest.fixture
def data(tmp_path):
    return benchmark(tmp_path / "data")


def prompts(data, count=5, shots=3):
    demonstrations = data.train[:shots]
    return [
        build(TERSE, demonstrations, each.pair, (*[each.score for each in demonstrations], 2.0))
        for each in data.asked[:count]
    ]


def probabilities(model, asked):
    return [
        reply.probabilities for _, reply in sorted(model.replies(asked, TERSE, Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))))
    ]


def test_what_comes_from_the_wheel_is_what_was_tested():
    for name in PACKAGED:
        packaged = PACKAGED[name]
        assert digest_of(fetch(name) / packaged.file) == packaged.sha256


def test_probabilities_are_those_of_a_plain_forward_pass(model, data):
    """Batched, padded, and with a shared beginning read once: the same as one prompt at a time, all logits computed."""
    import torch  # pyright: ignore[reportMissingImports]

    asked = prompts(data)
    fresh = [build(TERSE, data.train[3 * i : 3 * i + 3], each.pair) for i, each in enumerate(data.asked[:4])]
    tokens = ScoreTokens.find(model.tokenizer, TERSE, SCALE)
    assert [model.tokenizer.decode(each) for each in tokens.ids] == list("012345")
    shared = probabilities(model, asked)
    assert len(model._cached) == 1  # one beginning for all five
    model._cached.clear()
    apart = probabilities(model, fresh)
    assert not model._cached
    for prompt, found in zip([*asked, *fresh], [*shared, *apart], strict=True):
        ids = torch.tensor([model.tokenizer(prompt.text)["input_ids"]])
        with torch.inference_mode():
            plain = torch.softmax(model.model(ids).logits[0, -1].double(), -1)[list(tokens.ids)].numpy()
        assert found == pytest.approx(plain, rel=2e-3, abs=1e-6)


def test_answers_on_the_way_are_answers_to_the_prompt_cut_there(model, data):
    prompt = prompts(data, 1)[0]
    scale = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    [(_, whole)] = model.replies([prompt], TERSE, scale)
    for place, answer in enumerate(whole.along):
        [(_, cut)] = model.replies([prompt.cut(place)], TERSE, scale)
        assert answer == pytest.approx(cut.answer, abs=2e-3)
    assert len(whole.along) == 3
    bare = [build(TERSE, [], each.pair) for each in data.asked[:2]]
    assert all(reply.along == () for _, reply in model.replies(bare, TERSE, scale))


def test_a_few_queries_with_every_guess(model, data, tmp_path, monkeypatch):
    """The whole experiment, with the real encoder. Shown the answer, the model says it; and it stays resumable."""

    def encoder():
        return "minilm", load_encoder(fetch("minilm"))

    setting = Setting(queries=4, shots=4)
    results = run(model, data, setting, tmp_path / "out", encoder=encoder)
    assert all(status == {"ok": 4} for status in results.statuses.values())
    answers = np.concatenate([results.answer[kind].ravel() for kind in results.guesses])
    assert ((answers >= 0) & (answers <= 5)).all()
    # Copying is what it can do: with the label shown, the answer follows it.
    error = {kind: float(((results.answer[kind] - results.gold) ** 2).mean()) for kind in ("gold", "random", "none")}
    assert error["gold"] < error["none"]
    assert min(results.mass["gold"].ravel()) > 0.3
    assert results.shown["self"] == pytest.approx(results.answer["none"], abs=0.051)
    before = (tmp_path / "out" / "answers.jsonl").read_bytes()
    monkeypatch.setattr(model, "_forward", lambda *_: pytest.fail("asked twice"))
    run(model, data, setting, tmp_path / "out", encoder=encoder)
    assert (tmp_path / "out" / "answers.jsonl").read_bytes() == before
    row = json.loads(before.splitlines()[0])
    assert row["model"].startswith(PACKAGED["smollm2"].sha256[:16])


def test_a_model_without_score_tokens_is_told(model, data):
    """Two digits in one token can't be told apart: a template that runs the score into a word."""
    from dataclasses import replace

    class Words:
        """A tokenizer that cuts at spaces only, so that a score and what follows it are one token."""

        def __call__(self, text, **_):
            return {"input_ids": [hash(word) for word in text.split(" ")]}

    assert ScoreTokens.find(Words(), TERSE, SCALE) is None
    broken = type(model)(model.model, Words(), name="wordy", identity="x")
    with pytest.raises(ValueError, match="wordy has no score tokens"):
        next(broken.replies(prompts(data, 1), TERSE, Scale((0.0,) * 6)))
    with pytest.raises(ValueError, match=r"tokens and smollm2 reads 8192; use fewer --shots"):
        long = build(replace(TERSE, head="a b c " * 4000), [], data.asked[0].pair)
        next(model.replies([long], TERSE, Scale((0.0,) * 6)))


def test_a_tokenizer_that_puts_the_space_into_the_digit(data):
    """As GPT-2's does: then the prompt must end before the space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # pyright: ignore[reportMissingImports]
    from transformers import PreTrainedTokenizerFast  # pyright: ignore[reportMissingImports]

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    texts = [f"guess: {i}.{j} score: {i}.{j}\n\n" for i in range(6) for j in range(10)]
    raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=290, initial_alphabet=alphabet, show_progress=False))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw)
    found = ScoreTokens.find(tokenizer, TERSE, SCALE)
    assert found is not None
    assert found.back == 1
    assert [tokenizer.decode(each) for each in found.ids] == [f" {digit}" for digit in range(6)]


def test_gemma_begins_with_its_token():
    assert begins_with_bos("gemma3", False)
    assert begins_with_bos("llama", True)
    assert not begins_with_bos("llama", None)


@pytest.mark.parametrize("name", ["nowhere", "minilm", "smollm3"])
def test_models_that_are_none_are_named(name):
    with pytest.raises(ValueError, match=f"model is '{name}'; expected smollm2"):
        open_model(name)


@pytest.mark.slow
def test_through_a_server_it_says_the_same(model, data, tmp_path):
    asked = prompts(data)
    scale = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    here = dict(model.replies(asked, TERSE, scale))
    with server(tmp_path / "server", "--smollm2") as running:
        there = dict(Endpoint("smollm2", running.url).replies(asked, TERSE, scale))
    assert sorted(there) == sorted(here)
    for index, reply in there.items():
        assert reply.answer == pytest.approx(here[index].answer, abs=2e-3)
        assert reply.mass == pytest.approx(here[index].mass, abs=2e-3)
