"""The key, and secrets in an address: nothing that is shown, logged, raised or kept holds them, whoever says them."""

import base64
import html
import json
import logging
import traceback
from urllib.parse import quote

import pytest

from descant.llm import Endpoint, Scale, Setting, find_template, run as ask_all
from descant.llm._redactor import HIDDEN, Redactor
from tests.support.commands import run
from tests.support.llm_data import benchmark, write_data

pytest.importorskip("httpx", reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
KEY = 'sk-proj-Zx9/+Qw7_Er5&Ty3"Ui1'
# In how many ways a server, a proxy or a library may repeat it.
ECHOES = {
    "whole": KEY,
    "with a line break": f"Bearer {KEY}\n",
    "first half": KEY[:14],
    "second half": KEY[14:],
    "in the middle": f"...{KEY[5:-5]}...",
    "masked": f"{KEY[:5]}{'*' * 20}{KEY[-4:]}",
    "masked with dots": f"{KEY[:7]}...{KEY[-3:]}",
    "in an address": f"/v1?api_key={quote(KEY, safe='')}&x=1",
    "in an address, as it is": f"/v1?api_key={quote(KEY)}",
    "in HTML": f"<b>{html.escape(KEY)}</b>",
    "as JSON": json.dumps({"key": KEY}),
    "as JSON in JSON": json.dumps({"key": json.dumps(KEY)}),
    "as bytes": repr(KEY.encode()),
    "in capitals": KEY.upper(),
    "in hex": KEY.encode().hex(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "Basic, as a password": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "Basic, as a user": base64.b64encode(f"{KEY}:".encode()).decode(),
    "Basic, no user": base64.b64encode(f":{KEY}\n".encode()).decode(),
    "over two lines": f"{KEY[:12]}\n{KEY[12:]}",
}


def pieces(text: str, length: int = 8) -> set[str]:
    return {text[start : start + length].lower() for start in range(len(text) - length + 1)}


# Written down apart from the code that is tested: eight characters of any of these give the key away.
TELLING = pieces(KEY) | pieces(KEY.encode().hex()) | pieces(quote(KEY, safe="")) | pieces(html.escape(KEY))
for before in ("", ":", "u:"):
    TELLING |= pieces(base64.b64encode((before + KEY).encode()).decode()[4:-4])
    TELLING |= pieces(base64.urlsafe_b64encode((before + KEY).encode()).decode()[4:-4])


def assert_silent(text: str | bytes) -> None:
    found = (text if isinstance(text, str) else text.decode("utf-8", "replace")).lower()
    told = [piece for piece in TELLING if piece in found]
    assert not told, f"{told[0]!r} of the key stands in: {text!r}"
    assert KEY[-4:].lower() not in found


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("DESCANT_DEBUG", "1")


@pytest.mark.parametrize("echo", ECHOES)
def test_the_key_is_taken_out_and_the_rest_stays(echo):
    said = Redactor(KEY)(f"Incorrect key: {ECHOES[echo]} is not known here")
    assert_silent(said)
    assert said.startswith("Incorrect key: ") and HIDDEN in said and said.endswith(" is not known here")


def test_words_without_the_key_stay_as_they_are():
    words = "You exceeded your quota... see /v1/docs?page=2 ***\nBearer tokens begin with sk-, naïve 名前"
    assert Redactor(KEY)(words) == words
    assert Redactor("")(words) == Redactor("\\")(words) == words
    assert Redactor("EMPTY")("the key EMPTY") == f"the key {HIDDEN}"
    assert KEY not in repr(Redactor(KEY))


def everything(capsys, caplog, folder) -> str:
    """All that anybody could see afterwards: both streams, the log with what came with each record, all files."""
    output = capsys.readouterr()
    logged = "\n".join(f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records)
    files = [
        f"{path.name} {path.read_bytes().decode('utf-8', 'replace')}" for path in folder.rglob("*") if path.is_file()
    ]
    return "\n".join([output.out, output.err, caplog.text, logged, *files, *map(str, folder.rglob("*"))])


@pytest.mark.parametrize("echo", ["whole", "masked", "Basic, as a password", "as JSON"])
@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 429, 500])
def test_a_server_that_repeats_the_key(moody, keyed, prompts, capsys, caplog, tmp_path, status, echo):
    """In its status line, its headers and its body; as a reply, a complaint or an error that passes."""
    caplog.set_level(logging.DEBUG)
    said = ECHOES[echo].replace("\n", " ")
    headers = {"X-Your-Key": said, "Location": f"http://127.0.0.1:9/{said}", "Retry-After": "0", "Set-Cookie": said}
    moody.tell(all={"status": status, "reason": said, "headers": headers, "body": f"no, {said} is no key"})
    endpoint = Endpoint("m", moody.url, api="chat", tries=2, pause=0.01)
    with pytest.raises((ValueError, ConnectionError)) as caught:
        list(endpoint.replies(prompts[:2], TERSE, SCALE))
    shown = "".join(traceback.format_exception(caught.value))
    assert HIDDEN in shown
    for text in (shown, repr(caught.value), str(caught.value), repr(endpoint), repr(vars(endpoint))):
        assert_silent(text)
    assert_silent(everything(capsys, caplog, tmp_path))
    assert "HTTP Request: POST" in caplog.text  # the library did log
    assert moody.requests[-1]["key"] == f"Bearer {KEY}"


def test_a_command_that_ends_with_a_complaint(moody, keyed, capsys, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    data = write_data(tmp_path / "data")
    moody.tell(all={"status": 401, "reason": KEY, "body": f"Incorrect API key provided: {KEY}."})
    where = ("--data", str(data), "--model", "openai:m", "--base-url", moody.url, "--out", str(tmp_path / "out"))
    with pytest.raises(SystemExit) as stop:
        from descant.cli import main

        main(["llm", "sts", *where, "--queries", "2", "--shots", "1", "--guess", "none", "--template", "terse"])
    assert stop.value.code == 2
    seen = everything(capsys, caplog, tmp_path)
    assert f"status 401: Incorrect API key provided: {HIDDEN}.; set OPENAI_API_KEY to a key that it accepts" in seen
    assert_silent(seen)


def test_answers_that_hold_the_key_are_kept_without_it(moody, keyed, capsys, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    choice = {"text": f"4 {KEY}", "message": {"content": f"4 as {KEY} says", "refusal": None}}
    moody.tell(all={"body": json.dumps({"choices": [choice]})})
    data, setting = benchmark(tmp_path / "data"), Setting(("none",), queries=2, shots=1)
    for api in ("chat", "completions"):
        results = ask_all(Endpoint("m", moody.url, api=api), data, setting, tmp_path / api)
        assert results.answer["none"].tolist() == [[4.0], [4.0]]
    refusal = {"message": {"content": None, "refusal": f"not with {KEY}"}}
    moody.tell(all={"body": json.dumps({"choices": [refusal]})})
    ask_all(Endpoint("m", moody.url, api="chat"), data, setting, tmp_path / "refused")
    seen = everything(capsys, caplog, tmp_path)
    assert f"4 as {HIDDEN} says" in seen and f"4 {HIDDEN}" in seen and f"not with {HIDDEN}" in seen
    assert_silent(seen)


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", "  {}\t", "\n{}\n\n"])
def test_a_line_break_around_the_key_is_not_a_part_of_it(moody, prompts, monkeypatch, around):
    monkeypatch.setenv("OPENAI_API_KEY", around.format(KEY))
    moody.tell(all="answer")
    assert len(list(Endpoint("m", moody.url).replies(prompts[:1], TERSE, SCALE))) == 1
    assert moody.requests[-1]["key"] == f"Bearer {KEY}"


@pytest.mark.parametrize("odd", ["\n", "\r\nX-Evil: 1", "ö", "\u2028", "\ufeff", "名", "\x07", "\x7f", "\udcff"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(moody, monkeypatch, odd, capsys, caplog, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY[:14] + odd + KEY[14:])
    data, before = write_data(tmp_path / "data"), len(moody.requests)
    where = ("--data", str(data), "--model", "openai:m", "--base-url", moody.url, "--out", str(tmp_path / "out"))
    status, out, err = run("llm", "sts", *where, "--queries", "2", capsys=capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "OPENAI_API_KEY has a sign that no key has, at place 15 of" in err
    assert_silent(err)
    assert len(moody.requests) == before and not (tmp_path / "out").exists()


ADDRESSES = [
    "http://me:{secret}@127.0.0.1:9/v1",
    "http://{secret}@127.0.0.1:9/v1",
    "http://:{secret}@127.0.0.1:9/v1",
    "https://me:{secret}@[::1]:9/v1",
    "http://127.0.0.1:9/v1?api_key={secret}",
    "http://127.0.0.1:9/v1?{secret}",
    "http://127.0.0.1:9/v1#{secret}",
    "me:{secret}@127.0.0.1:9/v1",
    "//me:{secret}@127.0.0.1:9/v1",
    "ftp://me:{secret}@127.0.0.1:9/v1",
    "http://me:{secret}@",
    "http://me:{secret}@127.0.0.1:99999999/v1",
    "http://me:{secret}\n@127.0.0.1:9/v1",
    "http:\\\\me:{secret}@127.0.0.1:9/v1",
    "http://127.0.0.1:9\\@me:{secret}@x",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("model", ["openai:m", "smollm2"])
def test_secrets_in_an_address_are_refused_unseen(address, model, capsys, caplog, tmp_path):
    """A user and password would take the key's place, and be kept with the answers."""
    caplog.set_level(logging.DEBUG)
    data = write_data(tmp_path / "data")
    where = ("--data", str(data), "--model", model, "--base-url", address.format(secret="pa55word-in-it"))
    status, out, err = run("llm", "sts", *where, "--queries", "2", "--out", str(tmp_path / "out"), capsys=capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert (
        "the key goes into the environment variable OPENAI_API_KEY" if model == "openai:m" else "openai:NAME"
    ) in err
    assert "pa55word" not in err + caplog.text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "address", ["", "http://", "127.0.0.1:9", "file:///etc/passwd", "http://x:0/v1", "http://a:b/v1"]
)
def test_what_is_no_address_is_one_sentence(address):
    with pytest.raises(ValueError, match=r"base-url is .*; expected an address such as http"):
        Endpoint("m", address)


def test_the_key_itself_is_no_part_of_an_address_or_a_name(keyed, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    for model, address in (("m", "http://127.0.0.1:9/sk-0123456789/v1"), ("sk-0123456789", "http://127.0.0.1:9/v1")):
        with pytest.raises(ValueError, match="holds the key itself") as caught:
            Endpoint(model, address)
        assert "0123456789" not in str(caught.value)
    # Servers of one's own are often given such keys.
    monkeypatch.setenv("OPENAI_API_KEY", "m")
    assert Endpoint("m", "http://127.0.0.1:9/v1").name == "m"
