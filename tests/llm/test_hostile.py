"""Servers that are slow, endless or broken, that pack bombs, lead elsewhere or answer with anything: nothing hangs,
nothing grows, nobody else gets the key, and there is one sentence in the end.
"""

import json
import time
import tracemalloc

import pytest

from descant._names import file_name
from descant.llm import Endpoint, Scale, build, find_template, folder_name
from descant.llm._endpoint import LARGEST_REPLY, PATIENCE, retry_after
from tests.support.commands import run
from tests.support.llm_client import server
from tests.support.llm_data import benchmark, write_data

pytest.importorskip("httpx", reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
QUICK = {"timeout": 0.5, "pause": 0.01, "tries": 2, "api": "chat"}
FINE = {"choices": [{"message": {"content": "3.5"}}]}


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    data = benchmark(tmp_path_factory.mktemp("data"))
    return [build(TERSE, data.train[:2], each.pair) for each in data.asked]


@pytest.fixture
def sts(tmp_path, moody, capsys):
    """`descant llm sts`, asking the server for two queries."""
    data = write_data(tmp_path / "data")

    def command(*options, url=moody.url, model="openai:m", template="terse"):
        asked = ("--queries", "2", "--shots", "2", "--guess", "none,jaccard", "--template", template)
        where = ("--data", str(data), "--model", model, "--base-url", url, "--out", str(tmp_path / "out"))
        return run("llm", "sts", *where, *asked, *options, capsys=capsys)

    return command


def body(value) -> dict:
    return {"body": value if isinstance(value, str) else json.dumps(value)}


@pytest.mark.parametrize(
    "told",
    [
        body({"choices": ["3.5"]}),
        body({"choices": [{}]}),
        body({"choices": [["message"]]}),
        body({"choices": [{"message": "3.5"}]}),
        body({"choices": [{"message": {"content": ["3.5"]}}]}),
        body({"choices": [{"message": {"content": [{"text": "3.5"}]}}]}),
        body({"choices": [{"message": {"content": {"score": 3.5}}}]}),
        body('data: {"choices": [{"delta": {"content": "3.5"}}]}\n\ndata: [DONE]\n\n'),
        body({"choices": [{"message": None}]}),
        body({"choices": {"message": {"content": "3.5"}}}),
        body({"choices": []}),
        body({"error": "3.5"}),
        body([FINE]),
        body("3.5"),
        body("null"),
        body(""),
        body("<html>3.5</html>"),
        body("[" * 200_000),
        body('{"choices": [' + "1" * 10_000 + "]}"),
        {"body": "\ud83d\ude00{", "headers": {"Content-Type": "text/html; charset=utf-16"}},
        {"gzip": 30, "headers": {"Content-Encoding": "gzip"}},
        {**body(" " * (1 << 20)), "times": 1000},
    ],
)
def test_what_is_no_reply_is_tried_again_and_then_told(moody, prompts, told):
    moody.tell(all=told)
    endpoint = Endpoint("m", moody.url, **(QUICK | {"timeout": 20.0}))
    tracemalloc.start()
    with pytest.raises(ConnectionError, match=r"left 1 questions in a row unanswered, the last with a malformed reply"):
        dict(endpoint.replies(prompts[:1], TERSE, SCALE))
    assert tracemalloc.get_traced_memory()[1] < 3 * LARGEST_REPLY
    tracemalloc.stop()
    assert endpoint.failures == {"a malformed reply": 2}
    moody.tell(all=body(FINE))
    assert dict(endpoint.replies(prompts[:1], TERSE, SCALE))[0].answer == 3.5


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "2?"}]}, {"type": "text", "text": "3.5"}]


@pytest.mark.parametrize(
    "told",
    [
        body({"choices": [{"message": {"content": PARTS}, "finish_reason": ["stop"]}]}),
        body("\ufeff" + json.dumps(FINE)),
        body({"choices": [{"message": {"content": "3.5 \ud83d"}}], "usage": {"cost": None}}),
        {**body(FINE), "headers": {"Content-Encoding": "Identity"}},
        {**body(FINE), "headers": {"Content-Encoding": ""}},
    ],
)
def test_odd_replies_that_are_some(moody, prompts, told):
    """In parts, one of them a thought; with a mark at the beginning; half a character; unpacked, as it says."""
    moody.tell(all=told)
    assert dict(Endpoint("m", moody.url, **QUICK).replies(prompts[:1], TERSE, SCALE))[0].answer == 3.5


@pytest.mark.parametrize("told", [{"body": " ", "times": 100, "pause": 0.1}, {"body": " " * 999, "times": 10**9}])
def test_a_reply_that_never_ends_is_not_waited_for(moody, prompts, told):
    moody.tell(all=told)
    began = time.monotonic()
    with pytest.raises(ConnectionError, match=r"the last with (timeout: none within 0\.5 s|a malformed reply)"):
        dict(Endpoint("m", moody.url, **QUICK).replies(prompts[:1], TERSE, SCALE))
    assert time.monotonic() - began < 5


def test_a_complaint_that_never_ends_is_cut(moody, prompts):
    moody.tell(all={"status": 400, "body": "too long, " * 100, "times": 10**9})
    with pytest.raises(ValueError, match="status 400: too long") as caught:
        dict(Endpoint("m", moody.url, **QUICK).replies(prompts[:1], TERSE, SCALE))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(moody, prompts, tmp_path, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-one-address-alone")
    with server(tmp_path / "foreign") as foreign:
        moody.tell(all={"status": status, "headers": {"Location": f"{foreign.url}/chat/completions"}})
        with pytest.raises(ValueError, match=f"status {status}: nothing more; redirects are not followed"):
            dict(Endpoint("m", moody.url, **QUICK).replies(prompts[:1], TERSE, SCALE))
        assert foreign.requests == []


@pytest.mark.parametrize("logprob", ["1e999", "NaN", "-Infinity", "800", '"x"', "null", "[]", "1" + "0" * 400, "{}"])
@pytest.mark.parametrize(
    "form", ['"top_logprobs": [{"3": %s}]', '"content": [{"top_logprobs": [{"token": "3", "logprob": %s}]}]']
)
def test_probabilities_that_are_none_leave_the_text(moody, prompts, logprob, form):
    moody.tell(all={"body": '{"choices": [{"text": "4", "logprobs": {%s}}]}' % (form % logprob)})
    reply = dict(Endpoint("m", moody.url, **(QUICK | {"api": "completions"})).replies(prompts[:1], TERSE, SCALE))[0]
    assert (reply.answer, reply.status, reply.probabilities) == (4.0, "ok", ())


def test_what_a_terminal_would_act_on_and_half_a_character_are_not_kept(moody, prompts):
    moody.tell(all=body(r'{"choices": [{"message": {"content": "3 \u001b]0;title\u0007 \ud800\nbye"}}]}'))
    reply = dict(Endpoint("m", moody.url, **QUICK).replies(prompts[:1], TERSE, SCALE))[0]
    assert reply.answer == 3.0
    assert reply.text == "3  ]0;title   \nbye"


def test_pauses_that_a_server_asks_for():
    assert [retry_after(each, 1.0) for each in ("nan", "inf", "-inf", "-1", "1e400")] == [1.0, 60.0, 0.0, 0.0, 60.0]
    assert retry_after("Mon, 01 Jan 0001 00:00:00 -0000", 1.0) in (0.0, 1.0)


def test_total_failure_is_a_sentence_with_the_servers_words(sts, moody, tmp_path):
    moody.tell(all={"status": 503, "headers": {"Retry-After": "0"}, "body": "the model is\n being loaded"})
    status, out, err = sts()
    assert status == 2 and out == ""
    assert "left 4 questions in a row unanswered, the last with status 503: the model is being loaded; what was" in err
    assert not list(tmp_path.glob("out/*/*/table.csv"))


def test_a_server_that_fails_on_and_on_is_not_asked_on_and_on(moody, prompts):
    moody.tell(all={"status": 500, "headers": {"Retry-After": "0"}, "body": "out of memory"})
    endpoint = Endpoint("m", moody.url, concurrency=1, **QUICK)
    before = len(moody.requests)
    with pytest.raises(ConnectionError, match=f"left {PATIENCE} questions in a row .* status 500: out of memory"):
        dict(endpoint.replies(prompts, TERSE, SCALE))
    assert len(moody.requests) == before + 2 * PATIENCE


def test_questions_without_an_answer_and_answers_without_a_score_are_told_by_the_status(sts, moody):
    start = len(moody.requests)
    failing = {f"r{start + each}": {"status": 500, "headers": {"Retry-After": "0"}} for each in range(5)}
    moody.tell(all=body({"choices": [{"text": "4"}]}), **failing)
    status, _, err = sts("--concurrency", "1")
    assert status == 1
    assert "some questions stayed without an answer; the same command asks them again" in err
    moody.tell(all="words")
    status, _, err = sts(template="lines")
    assert status == 1
    assert "no answer holds a score" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--concurrency", "0"], "concurrency is 0; expected a whole number of at least 1"),
        (["--concurrency", "-3"], "concurrency is -3"),
        (["--concurrency", "1000000"], "concurrency is 1000000; expected at most 256"),
        (["--timeout", "-1"], "timeout is -1.0; expected seconds, above 0"),
        (["--timeout", "0"], "timeout is 0.0"),
        (["--timeout", "nan"], "timeout is nan"),
        (["--timeout", "inf"], "timeout is inf"),
        (["--timeout", "1e308"], "timeout is 1e+308"),
        (["--api", "telepathy"], "api is 'telepathy'"),
        (["--queries", "0"], "queries is 0"),
        (["--queries", "41"], "queries is 41; the file has 40 pairs"),
        (["--queries", "1000000000000"], "more than 1,000,000 questions"),
        (["--seeds", "0"], "seeds is 0"),
        (["--seeds", "-1"], "seeds is -1"),
        (["--seeds", "100000000"], "more than 1,000,000 questions"),
        (["--shots", "-1"], "shots is -1"),
        (["--shots", "61"], "shots is 61; the training file has only 60 pairs"),
        (["--temperature", "nan"], "--temperature"),
    ],
)
@pytest.mark.parametrize("model", ["openai:m", "smollm2"])
def test_numbers_that_mean_nothing_are_one_sentence_at_once(tmp_path, capsys, options, sentence, model):
    """Also where the model needs no endpoint, and before it is looked for."""
    data = write_data(tmp_path / "data")
    where = ["--data", str(data), "--model", model, "--out", str(tmp_path / "out")]
    where += ["--base-url", "http://127.0.0.1:9/v1"] if model == "openai:m" else []
    where += [] if "--queries" in options else ["--queries", "2"]
    began = time.monotonic()
    status, out, err = run("llm", "sts", *where, *options, capsys=capsys)
    assert time.monotonic() - began < 5
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("model", ["a\nAuthorization: Bearer x", "a\r\n\r\nGET /", "a\x07b", "\x1b[31m", ""])
def test_names_of_models_are_one_line(sts, moody, model):
    before = len(moody.requests)
    status, _, err = sts(model=f"openai:{model}")
    assert status == 2
    assert "expected the model's name after openai:, in one line" in err and "\x1b" not in err
    assert len(moody.requests) == before


@pytest.mark.parametrize("model", ["[/red]", "../../.."])
def test_any_other_name_is_sent_shown_and_kept_below_the_folder(sts, moody, model, tmp_path):
    moody.tell(all="answer")
    status, out, err = sts(model=f"openai:{model}")
    assert status == 0, err
    assert model.split("/")[-1][:20] in out.replace("\n", "")
    assert moody.requests[-1]["model"] == model
    [folder] = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert {path.name for path in tmp_path.iterdir()} == {"data", "out"}
    assert len(list(folder.glob("stsb-*-terse-all-2-by-10/setting.json"))) == 1


def test_names_of_folders():
    """What the names of models become: one folder each, below the one that was asked for."""
    names = ["..", ".", "/", "a" * 400, "名前", "con", "-rf", ".hidden", "[link=file:///]x", "a/../b"]
    made = {folder_name(Endpoint(name, "http://127.0.0.1:9/v1")) for name in names}
    assert len(made) == len(names)
    assert all(file_name("folder", each) == each for each in made)
