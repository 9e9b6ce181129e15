"""Scores in texts that real models write, and in others that would be misread."""

import pytest

from descant.llm import Scale, build, find_template, parse_score, read_benchmark
from descant.llm._protocol import chat, completion
from tests.support.llm_data import write_data

OK, DOUBT = "ok", "ambiguous"
# Replies of chat models (Qwen2.5, SmolLM2, Llama 3, DeepSeek-R1, gpt-oss, Gemma) to the question for a score from
# 0 to 5, or in their form, and what a person reads in them.
REPLIES = [
    ("3.5", 3.5, OK),
    (" 4\n", 4.0, OK),
    ("**4.2**", 4.2, OK),
    ("`2.0`", 2.0, OK),
    ("3,5", 3.5, OK),
    ("4.", 4.0, OK),
    ("Score: 2,75.", 2.75, OK),
    ("score: 3.8", 3.8, OK),
    ("guess: 2.1 score: 3.8", 3.8, OK),
    ("guess: 3.8 score: 3.8", 3.8, OK),
    ("Initial guess: 2.1\nScore: 3.8", 3.8, OK),
    ("Guess: 2.1\n\n**Score:** 3.8", 3.8, OK),
    ("The score is 3.5 out of 5.", 3.5, OK),
    ("The similarity score for the last pair is **3.2**.", 3.2, OK),
    ("I'd rate it 3.5/5", 3.5, OK),
    ("3.5/5", 3.5, OK),
    ("3.5 out of 5", 3.5, OK),
    ("Rating: 4/5.0", 4.0, OK),
    ("On a scale from 0 to 5, it is 3.", 3.0, OK),
    ("On a scale of 0-5, I would give this a 2.5.", 2.5, OK),
    ("(1-5) 3", 3.0, OK),
    ("(0–5): 4.4", 4.4, OK),
    ("The 2 sentences mean nearly the same: 4.0", 4.0, OK),
    ("Sentence 1 and Sentence 2 are alike. Score: 4.5", 4.5, OK),
    ("Both sentences describe a man playing. 3.8", 3.8, OK),
    ("4.2\n\nThe sentences differ in one word, so it is not a 5.", 4.2, OK),
    ("4 - the two sentences share the subject; a 5 would be the same.", 4.0, OK),
    ("<think>The guess is 2.1. Maybe 3? The score should be 4.</think>\n\n3.8", 3.8, OK),
    ("Okay, 2 or 3... the first score was 5.0.</think>3.8", 3.8, OK),
    ("<thinking>1, 2, 3</thinking>Score: 0.4", 0.4, OK),
    ("[THINK]between 2 and 3[/THINK]2.6", 2.6, OK),
    ("◁think▷5?◁/think▷ 1.0", 1.0, OK),
    (
        "<|channel|>analysis<|message|>Examples have 5.0, 0.8.<|end|><|start|>assistant<|channel|>final<|message|>2.4",
        2.4,
        OK,
    ),
    (r"The answer is $\boxed{3.6}$.", 3.6, OK),
    ('{"score": 3.1}', 3.1, OK),
    ('```json\n{"guess": 2.1, "score": 3.1}\n```', 3.1, OK),
    ("Score = 4.5", 4.5, OK),
    ("Answer: 0", 0.0, OK),
    ("0.0 (unrelated)", 0.0, OK),
    ("With 0 = unrelated and 5 = the same, my score is 1.2", 1.2, OK),
    ("Similarity: 2.9 (out of 5)", 2.9, OK),
    ("1. The first is about a dog.\n2. The second is about a cat.\nScore: 1.4", 1.4, OK),
    ("A man plays. A man sings. guess: 2.5 score: 3.3", 3.3, OK),
    # Several that might be meant: the last, with a flag.
    ("Maybe 2, maybe 3.", 3.0, DOUBT),
    ("The guess was 2.1, but I think 3.8", 3.8, DOUBT),
    ("Score: 3.0. On reflection, score: 4.0", 4.0, DOUBT),
    ("2.1 score: 3.8", 3.8, DOUBT),
    ("score: 3.8\n\nA dog runs.\nA cat sleeps.\nscore: 0.5", 0.5, DOUBT),
    # No score at all.
    ("7", None, "out of range"),
    ("-1", None, "out of range"),
    ("Score: 38", None, "out of range"),
    ("I can't say.", None, "not a number"),
    ("", None, "not a number"),
    ("They are 80% similar.", None, "not a number"),
    ("On a scale from 0 to 5.", None, "not a number"),
    ("<think>The guess is 2.1 and so", None, "cut off"),
    ("v1.2.3", None, "not a number"),
]


@pytest.mark.parametrize(("text", "value", "status"), REPLIES)
def test_what_a_text_says(text, value, status):
    assert parse_score(text, "score: ") == (value, status)


@pytest.mark.parametrize(
    ("text", "low", "high", "value", "status"),
    [
        ("(1-5) 3", 1, 5, 3.0, OK),
        ("0.4", 1, 5, None, "out of range"),
        ("7.5/9", 0, 9, 7.5, OK),
        ("from 0 to 9.9: 7.5", 0, 9.9, 7.5, OK),
    ],
)
def test_scales(text, low, high, value, status):
    assert parse_score(text, low=low, high=high) == (value, status)


@pytest.fixture
def asked(tmp_path):
    data = read_benchmark(write_data(tmp_path))
    template = find_template("terse")
    labels = [each.score for each in data.train]
    prompt = build(template, data.train[:2], data.asked[0].pair, (1.0, 2.0, 2.1))
    return prompt, template, Scale.of(labels, template)


def test_a_server_that_repeats_the_prompt_is_read_after_it(asked):
    """Its demonstrations and the guess are numbers too, and the score stands behind them."""
    prompt = asked[0]
    for text in (prompt.text + "3.8", "Sure!\n" + prompt.stems[-1] + "3.8", prompt.stems[-1].strip() + " 3.8\n"):
        assert chat({"message": {"content": text}}, *asked).answer == 3.8, text


def test_a_model_that_was_still_thinking_has_said_nothing(asked):
    for content in ("<think>The guess is 2.1", None, ""):
        reply = chat(
            {"message": {"content": content, "reasoning_content": "2.1 ..."}, "finish_reason": "length"}, *asked
        )
        assert (reply.answer, reply.status) == (None, "cut off")


def test_a_completion_is_read_up_to_its_end(asked):
    reply = completion({"text": "3.8\n\nA dog.\nA cat.\nguess: 1.0 score: 0.5", "logprobs": None}, *asked)
    assert (reply.answer, reply.status) == (3.8, OK)
    top = {"3": -0.1, " 4": -3.0, "9": -2.0, "the": -5.0}
    reply = completion({"text": "3", "logprobs": {"top_logprobs": [top]}}, *asked)
    assert 3.0 < reply.answer < 4.0
