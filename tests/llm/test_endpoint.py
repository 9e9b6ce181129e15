"""The endpoint's client against a real server process, in all its moods; no answer is lost or asked for again."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from descant.llm import Endpoint, Scale, Setting, build, find_template, run
from descant.llm._endpoint import retry_after
from tests.support.llm_client import server
from tests.support.llm_data import benchmark, encoder, write_data

pytest.importorskip("httpx", reason="needs the extra llm: make llm")
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
QUICK = {"timeout": 0.6, "pause": 0.02, "tries": 3}


def ask(endpoint, prompts):
    return dict(endpoint.replies(prompts, TERSE, SCALE))


def told(running, **script):
    """Say what to do with the requests from now on, counted from 0."""
    start = len(running.requests)
    running.tell(**{f"r{start + int(name[1:])}" if name[1:].isdigit() else name: what for name, what in script.items()})
    return start


@pytest.mark.parametrize("form", ["answer", "new form"])
def test_completions_are_means_over_the_digits(moody, prompts, form):
    from tests.support.llm_server import similarity

    start = told(moody, all=form)
    found = ask(Endpoint("m", moody.url, concurrency=4), prompts)
    assert sorted(found) == list(range(len(prompts)))
    for index, reply in found.items():
        assert reply.answer == pytest.approx(SCALE.expected(similarity(prompts[index].text)))
        assert reply.mass == pytest.approx(1)
    asked = moody.requests[start:]
    assert {each["path"] for each in asked} == {"/v1/completions"}
    assert sorted(each["prompt"] for each in asked) == sorted(each.text for each in prompts)
    assert all(each["temperature"] == 0 and each["model"] == "m" for each in asked)


def test_a_chat_is_asked_in_words_and_read_from_its_text(moody, prompts, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a key of the test")
    start = told(moody, all="chat only")
    found = ask(Endpoint("m", moody.url), prompts[:5])
    asked = moody.requests[start:]
    # Once it is known that there are no completions, nobody asks for one again.
    assert [each["path"] for each in asked].count("/v1/completions") == 1
    assert asked[1]["messages"][0]["content"] == TERSE.chat + prompts[0].text
    assert {each["key"] for each in asked} == {"Bearer a key of the test"}
    assert all(reply.status == "ok" and reply.answer == float(reply.text) for reply in found.values())


@pytest.mark.parametrize(
    ("mood", "status"), [("refusal", "refused"), ("words", "not a number"), ("nine", "out of range"), ("text", "ok")]
)
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_answers_that_are_no_scores_are_answers(moody, prompts, mood, status, api):
    start = told(moody, all=mood)
    found = ask(Endpoint("m", moody.url, api=api), prompts[:3])
    assert [found[index].status for index in range(3)] == [status] * 3
    assert all((reply.answer is None) is (status != "ok") for reply in found.values())
    assert len(moody.requests) == start + 3  # asked once each: they would say the same again


@pytest.mark.parametrize("mood", ["429", "500", "503", "silence", "nonsense"])
def test_what_passes_is_tried_again(moody, prompts, mood):
    start = told(moody, r0=mood, r1="answer", r2=mood)
    endpoint = Endpoint("m", moody.url, concurrency=1, **QUICK)
    began = time.monotonic()
    found = ask(endpoint, prompts[:2])
    assert sorted(found) == [0, 1]
    assert len(moody.requests) == start + 4
    names = {"silence": "timeout", "nonsense": "a malformed reply"}
    assert endpoint.failures == {names.get(mood, f"status {mood}"): 2}
    if mood == "429":
        assert time.monotonic() - began > 0.4  # the server asked for 0.2 s, twice; our own pause is shorter


def test_what_does_not_pass_is_left_for_another_time(moody, prompts):
    told(moody, all="500", r1="answer", r0="answer")
    endpoint = Endpoint("m", moody.url, concurrency=1, **QUICK)
    assert sorted(ask(endpoint, prompts[:4])) == [0, 1]
    assert endpoint.unanswered == 2
    assert endpoint.failures == {"status 500": 6}


@pytest.mark.parametrize(("status", "hint"), [("401", "OPENAI_API_KEY"), ("400", "--shots"), ("404", "--base-url")])
def test_requests_that_are_refused_stop_the_run_with_a_sentence(moody, prompts, status, hint):
    start = told(moody, all=status)
    with pytest.raises(ValueError, match=f"status {status}: .*as told.*{hint}"):
        ask(Endpoint("m", moody.url, api="completions", **QUICK), prompts)
    assert len(moody.requests) == start + 1


def test_an_address_where_nobody_is():
    endpoint = Endpoint("m", "http://127.0.0.1:9/v1", **QUICK)
    with pytest.raises(ConnectionError, match="can't be reached"):
        ask(endpoint, [build(TERSE, [], benchmark_pair())])
    with pytest.raises(ValueError, match="expected an address"):
        Endpoint("m", "127.0.0.1:9")
    with pytest.raises(ValueError, match="api is 'telepathy'"):
        Endpoint("m", "http://127.0.0.1:9", api="telepathy")


def benchmark_pair():
    from descant.llm import Pair

    return Pair("A man sings.", "A man plays.")


def test_dates_in_retry_after():
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
    assert 25 < retry_after(date, 1.0) <= 30
    assert retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 1.0) == 0.0


def test_an_endpoint_that_dies_and_comes_back(tmp_path):
    """Nothing that was answered is lost, and nothing is asked twice, `self` included."""
    data = benchmark(tmp_path / "data")
    setting = Setting(queries=4, shots=3, template=TERSE, together=1)
    folder = tmp_path / "answers"
    with server(tmp_path / "server") as first:
        first.tell(r20="die")
        endpoint = Endpoint("m", first.url, concurrency=2, **QUICK)
        with pytest.raises(ConnectionError, match="what was answered is kept"):
            run(endpoint, data, setting, folder, encoder=encoder)
        before = first.requests
    kept = (folder / "answers.jsonl").read_text().splitlines()
    # One other may have been under way when it died.
    assert 19 <= len(kept) <= 20
    with server(tmp_path / "again") as second:
        endpoint = Endpoint("m", second.url, concurrency=2, **QUICK)
        endpoint.identity = f"auto m at {first.url}"  # as if it were at its old address again
        results = run(endpoint, data, setting, folder, encoder=encoder)
        asked = [each["prompt"] for each in second.requests]
        rows = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
        # Nine guesses, and the three demonstrations of each query without a guess.
        assert len(rows) == 4 * (9 + 3)
        assert len(asked) == len({row["prompt"] for row in rows}) - len({json.loads(line)["prompt"] for line in kept})
        assert len(set(asked)) == len(asked)
        died = [each["prompt"] for each in before]
        assert len({*died, *asked}) == len({row["prompt"] for row in rows})
        assert all(status == {"ok": 4} for status in results.statuses.values())
        again = run(endpoint, data, setting, folder, encoder=encoder)
        assert len(second.requests) == len(asked)
        assert (again.answer["self"] == results.answer["self"]).all()
        # Its guesses are its own answers without one.
        assert results.shown["self"] == pytest.approx(results.answer["none"], abs=0.051)


@pytest.mark.slow
def test_a_killed_command_goes_on_and_asks_nothing_twice(tmp_path):
    data = write_data(tmp_path / "data")
    with server(tmp_path / "server") as running:
        options = [
            "--data",
            str(data),
            "--model",
            "openai:org/m",
            "--base-url",
            running.url,
            "--out",
            str(tmp_path / "out"),
        ]
        options += [
            "--queries",
            "40",
            "--shots",
            "3",
            "--guess",
            "none,constant,mean,random,jaccard,self,gold",
            "--concurrency",
            "1",
            "--template",
            "terse",
            "--together",
            "1",
        ]
        command = [sys.executable, "-m", "descant", "llm", "sts", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(running.requests) < 60 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        before = len(running.requests)
        assert 60 <= before < 40 * (7 + 3)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        prompts = [each["prompt"] for each in running.requests]
        # What a kill may lose is the one under way.
        assert len(prompts) - len(set(prompts)) <= 1
        assert "(b) " in done.stdout
        [folder] = Path(tmp_path / "out").glob("*/stsb-*-terse-all-3-by-1")
        assert {path.name for path in folder.iterdir()} >= {
            "table.csv",
            "figure.png",
            "verdicts.json",
        }
        asked = len(prompts)
        assert subprocess.run([*command, "--json"], capture_output=True).returncode == 0
        assert len(running.requests) == asked
