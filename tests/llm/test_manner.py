"""Servers that refuse a part of a request: it is put otherwise, once, and the run goes on."""

import json

import pytest

from descant.llm import Endpoint, Scale, find_template
from descant.llm._manner import Manner

pytest.importorskip("httpx", reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
BODY = {"max_tokens": 6, "temperature": 0, "logprobs": 20}
# What servers say.
WORDS = [
    (
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "limit",
    ),
    ("Unrecognized request argument supplied: max_tokens", "limit"),
    (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default is.",
        "temperature",
    ),
    ("Invalid value for 'logprobs': must be less than or equal to 5.", "logprobs"),
    ("You requested 20 logprobs, but the server is configured with a maximum of 5.", "logprobs"),
    ("This model's maximum context length is 2048 tokens; reduce your max_tokens.", None),
    ("max_tokens is too large: 100000.", None),
    ("no such model", None),
]


@pytest.mark.parametrize(("said", "part"), WORDS)
def test_the_servers_words_say_what_to_change(said, part):
    other = Manner().otherwise(400, said, BODY)
    if part is None:
        assert other is None
    else:
        assert other is not None and getattr(other, part) != getattr(Manner(), part)
        assert Manner().otherwise(500, said, BODY) is None


def test_what_was_changed_is_not_changed_again():
    """Else a server that refuses whatever is asked would be asked for ever."""
    for said, part in WORDS[:5]:
        manner: Manner | None = Manner()
        for _ in range(5):
            body = {} if manner is None else manner.completion("m", "p")
            manner = None if manner is None else manner.otherwise(400, said, body)
        assert manner is None, part


def refusal(said):
    return {"status": 400, "body": json.dumps({"error": {"message": said}})}


def test_a_run_goes_on_after_refusals(moody, prompts):
    start = len(moody.requests)
    moody.tell(
        all={"body": json.dumps({"choices": [{"text": "4", "message": {"content": "4"}}]})},
        **{f"r{start + place}": refusal(WORDS[index][0]) for place, index in enumerate((0, 2, 3, 3))},
    )
    found = dict(Endpoint("m", moody.url, concurrency=1).replies(prompts[:3], TERSE, SCALE))
    assert [found[index].answer for index in range(3)] == [4.0] * 3
    asked = moody.requests[start:]
    assert len(asked) == 3 + 4  # each part is refused once
    last = asked[-1]
    assert "max_tokens" not in last and last["max_completion_tokens"] == 6
    assert "temperature" not in last and "logprobs" not in last


@pytest.mark.parametrize("status", [400, 404, 405, 422, 501])
def test_where_completions_are_refused_the_chat_is_asked(moody, prompts, status):
    start = len(moody.requests)
    said = {"status": status, "body": "This is a chat model and not supported in the v1/completions endpoint."}
    moody.tell(all={"body": json.dumps({"choices": [{"message": {"content": "score: 2.5"}}]})}, **{f"r{start}": said})
    found = dict(Endpoint("m", moody.url, concurrency=1).replies(prompts[:2], TERSE, SCALE))
    assert [found[index].answer for index in range(2)] == [2.5, 2.5]
    assert [each["path"] for each in moody.requests[start:]] == ["/v1/completions", *["/v1/chat/completions"] * 2]


def test_a_server_that_echoes_the_guess_before_a_score_is_not_taken_for_a_copy(moody, prompts):
    """As real models write: the guess, then the score that was asked for."""
    moody.tell(all={"body": json.dumps({"choices": [{"message": {"content": "guess: 2.1 score: 3.8"}}]})})
    found = dict(Endpoint("m", moody.url, api="chat").replies(prompts[:2], TERSE, SCALE))
    assert {reply.answer for reply in found.values()} == {3.8}


def test_a_chat_may_think(moody, prompts):
    start = len(moody.requests)
    moody.tell(all={"body": json.dumps({"choices": [{"message": {"content": "<think>2?</think>3"}}]})})
    [(_, reply)] = Endpoint("m", moody.url, api="chat", tokens=777).replies(prompts[:1], TERSE, SCALE)
    assert reply.answer == 3.0 and moody.requests[start]["max_tokens"] == 777
    with pytest.raises(ValueError, match="tokens is 0"):
        Endpoint("m", moody.url, tokens=0)
