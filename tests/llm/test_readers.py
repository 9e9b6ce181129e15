"""Scores in texts that real models write, and in others that would be misread."""

import time

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
    # Fractions, other languages, tables, tags, lists: in forms that were once misread.
    ("4/5", 4.0, OK),
    ("Similarity score: 4 / 5\n\nBoth describe a woman slicing vegetables.", 4.0, OK),
    ("**Score: 4.2/5** (84%)", 4.2, OK),
    ("Rating: ⭐⭐⭐⭐ (4/5)", 4.0, OK),
    ("Die Ähnlichkeit liegt bei 3,5 von 5.", 3.5, OK),
    ("Puntuación: 3,5 de 5", 3.5, OK),
    ("Note : 3,5/5", 3.5, OK),
    ("Оценка: 3,8 из 5", 3.8, OK),
    ("评分：**3.5**（满分5分）", 3.5, OK),
    ("我给3.5分", 3.5, OK),
    ("分数为4.2", 4.2, OK),
    ("2个句子的相似度是4.2", 4.2, OK),
    ("句子1和句子2很像，得分３．５", 3.5, OK),
    ("5点満点中3.5点", 3.5, OK),
    ("5점 만점에 3.5점", 3.5, OK),
    ("٣٫٥", 3.5, OK),
    ("| sentence 1 | sentence 2 | score |\n|---|---|---|\n| A man plays. | A man sings. | 2.2 |", 2.2, OK),
    ('{"reasoning": "2 men", "score": "3.1", "confidence": 0.9}', 3.1, OK),
    ("<answer>3.8</answer>", 3.8, OK),
    ("<analysis>2 or 3</analysis>\n3.8", 3.8, OK),
    ("<seed:think>maybe 2</seed:think>3.8", 3.8, OK),
    ("<|START_THINKING|>2?<|END_THINKING|><|START_RESPONSE|>3.8<|END_RESPONSE|>", 3.8, OK),
    ("<|begin_of_thought|>score 2<|end_of_thought|><|begin_of_solution|>3.8<|end_of_solution|>", 3.8, OK),
    ("Thinking...\nThe guess is 2.1.\n...done thinking.\n\n3.8", 3.8, OK),
    ("4. The sentences differ slightly.", 4.0, OK),
    ("4.\n\nThe sentences differ in one word.", 4.0, OK),
    ("1. 3.5", 3.5, OK),
    ("Pair #3: 3.8", 3.8, OK),
    ("First, 2 of the 4 words differ. So 2.6", 2.6, OK),
    ("Score ≈ 3.4", 3.4, OK),
    ("The guess of 4.1 is too high, so the score is 3.2", 3.2, OK),
    ("I agree with the initial guess of 3.2.", 3.2, OK),
    # The scale told in other words, numbers that are turned down, and scores named from afar.
    ("I'd rate these two sentences 3.5. A score of 5 would mean they are identical.", 3.5, OK),
    ("The similarity score for the last two sentences is 3.5. A score of 5.0 would indicate the same.", 3.5, OK),
    ("I rate the similarity as 3.5 (where 0 is unrelated and 5 is identical).", 3.5, OK),
    ("I'd say 4, and 5 is my answer for the same meaning.", 5.0, DOUBT),
    ("score [0, 5]: 3.5", 3.5, OK),
    ("[0,5] 3.5", 3.5, OK),
    ("Score: [0,5]", 0.5, OK),
    ("score: .5", 0.5, OK),
    ("score: -.5", None, "out of range"),
    ("They are close: 4.2, but not a 5.", 4.2, OK),
    ("It is 3.8, not 4.2", 3.8, OK),
    ("It is not 5.", 5.0, OK),
    ("Score: 3.5 (the guess score of 4.1 is a bit high)", 3.5, OK),
    ("The score: 3.5 (the guess was 4.1, a difference of 0.6)", 3.5, OK),
    ("Score: 3.5\nConfidence: 0.9", 3.5, OK),
    ("(1) the verb differs (2) the object differs => 3.0", 3.0, OK),
    ("## 1. Analysis\nBoth talk of hair.\n## 2. Score\n2.6", 2.6, OK),
    # Several that might be meant: the last that is not called a guess, with a flag.
    ("The score for the last pair is 3.2, while the first pair had a score of 3.8.", 3.8, DOUBT),
    ("Compared with the first pair (score: 3.8), I'd give the last pair 2.8.", 3.8, DOUBT),
    ("In the example the guess 4.1 led to score 3.8, so 3.6 leads to 3.3.", 3.8, DOUBT),
    ("4.1 → 3.3", 3.3, DOUBT),
    ("3.8\n3.4", 3.8, DOUBT),
    ("I'd give it a 3.8 rather than the guess of 4.2.", 3.8, DOUBT),
    ("4.2 is the guess, but I'd say 3.1", 3.1, DOUBT),
    # Of a range, the end that was read.
    ("Score: 3-4", 3.0, DOUBT),
    ("3.5 to 4.0", 3.5, DOUBT),
    ("Maybe 2, maybe 3.", 3.0, DOUBT),
    ("The guess was 2.1, but I think 3.8", 3.8, DOUBT),
    ("Score: 3.0. On reflection, score: 4.0", 4.0, DOUBT),
    ("2.1 score: 3.8", 3.8, DOUBT),
    ("score: 3.8\n\nA dog runs.\nA cat sleeps.\nscore: 0.5", 0.5, DOUBT),
    # No score at all.
    ("7", None, "out of range"),
    ("-1", None, "out of range"),
    ("Score: 38", None, "out of range"),
    # On a scale of its own.
    ("4/10", None, "out of range"),
    ("Score: 4 out of 10", None, "out of range"),
    ("Score: -1", None, "out of range"),
    ("<|START_THINKING|>the guess is 2.1", None, "cut off"),
    ("<|channel|>analysis<|message|>Examples have 5.0", None, "cut off"),
    ("As an AI language model, I can't rate these 2 sentences from 0 to 5.", None, "not a number"),
    ("Score: N/A", None, "not a number"),
    ("4 of 10 words are shared", None, "not a number"),
    ("3½", None, "not a number"),
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
    ("asked", "text", "value", "status"),
    [
        ("A: ", "3.2, since a 5 is what the same would have", 3.2, OK),
        ("A: ", "A: 3.2", 3.2, OK),
        ("<score>", "<pair><a>x</a><b>y</b><guess>3.0</guess><score>3.1</score></pair>", 3.1, OK),
        ("- similarity (0 to 5): ", "- initial guess: 3.0\n- similarity (0 to 5): 3.1", 3.1, OK),
        ("output: ", "The output is 3.1 (the guess was 4.3)", 3.1, OK),
        # The line of the query once more: its inputs are numbers, too.
        ("-> ", "4.2, 1.1 (guess 4.3) -> 3.1", 3.1, DOUBT),
        ("-> ", "4.2, 1.1 -> 3.1", 3.1, DOUBT),
        (" = ", "f(4.2, 1.1) = 3.1", 3.1, DOUBT),
        ("y = ", "y = 5.0 + 0.3 = 4.3", 4.3, OK),
        ("y = ", "With w1 = 0.5, w2 = -0.3: y = 5 + 0.5*(4.2-5) - 0.3*(1.1-5) ≈ 4.27", 4.27, DOUBT),
    ],
)
def test_after_what_a_wording_puts_before_a_score(asked, text, value, status):
    assert parse_score(text, asked) == (value, status)


PIECES = (
    "score ",
    "score: 3 ",
    " ",
    "\n",
    "1",
    "1,",
    "1-",
    "1.\n",
    "1 of ",
    "guess ",
    "<think>",
    "</think>",
    "<|",
    "*",
    "not a ",
    "score of 5 means ",
    "score for a ",
    "[0,5]",
    "3.8\n",
    "= 1 + ",
)


@pytest.mark.parametrize("piece", PIECES)
def test_a_reply_that_never_ends_is_read_in_time(piece):
    """A server may send megabytes of anything; it is read in a time that grows with its length alone."""
    began = time.process_time()
    parse_score("score" + piece * (40_000 // len(piece)) + "x")
    assert time.process_time() - began < 2


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
