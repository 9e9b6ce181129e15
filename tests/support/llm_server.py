"""A server process that speaks OpenAI's protocol. It answers from the words of the last pair, or, asked so, by SmolLM2.

    python -m tests.support.llm_server FOLDER [--smollm2]

It writes its port into FOLDER/port, a line per request into FOLDER/requests.jsonl, and reads FOLDER/script.json before
each request: what to do with requests by their number, such as {"0": "429", "1": "silence"}, or "all" for every one. An
object says what to send word for word: status, reason, headers, body (gzip: so many MB of it, packed), how many times
the body is sent, and the pause before each time.
"""

import argparse
import gzip
import json
import math
import os
import re
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIGITS = "012345"


def similarity(prompt: str) -> list[float]:
    """Probabilities of the digits: around the share of words that the last two sentences have in common."""
    first, second = prompt.rstrip().split("\n")[-3:-1]
    words = [set(re.findall(r"\w+", text.lower())) for text in (first, second)]
    mean = 5 * len(words[0] & words[1]) / len(words[0] | words[1])
    weights = [math.exp(-((mean - digit) ** 2)) for digit in range(6)]
    return [weight / sum(weights) for weight in weights]


def smollm2():
    """The real model's probabilities, with everything that is not a digit as one more."""
    from descant.llm import Scale, find_template, open_model
    from descant.llm._prompts import Prompt

    # As the tests do: on a CPU that has bfloat16, that would be the default.
    model, mutex = open_model("smollm2", dtype="float32"), threading.Lock()

    def probabilities(prompt: str) -> list[float]:
        with mutex:
            [(_, reply)] = model.replies([Prompt((prompt,), ())], find_template("terse"), Scale((0.0,) * 6))
        return list(reply.probabilities)

    return probabilities


class Handler(BaseHTTPRequestHandler):
    folder: Path
    answer = staticmethod(similarity)
    count = 0
    mutex = threading.Lock()

    def log_message(self, format, *args):
        """Say nothing."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.mutex:
            number, Handler.count = self.count, self.count + 1
            script = json.loads((self.folder / "script.json").read_text())
            with (self.folder / "requests.jsonl").open("a") as log:
                log.write(json.dumps({"path": self.path, "key": self.headers.get("Authorization"), **body}) + "\n")
        self.act(script.get(str(number), script.get("all", "answer")), body)

    def send_as_told(self, told: dict):
        """Whatever the test wants to see arrive, in pieces if it says so."""
        self.send_response(told.get("status", 200), told.get("reason", "As told"))
        for name, value in told.get("headers", {}).items():
            self.send_header(name, value)
        self.end_headers()
        data = told.get("body", "").encode()
        if "gzip" in told:
            data = gzip.compress(bytes(told["gzip"] << 20))
        # A client that has seen enough hangs up.
        with suppress(OSError):
            for _ in range(told.get("times", 1)):
                time.sleep(told.get("pause", 0.0))
                self.wfile.write(data)
                self.wfile.flush()

    def act(self, what: str | dict, body: dict):
        if isinstance(what, dict):
            return self.send_as_told(what)
        chat = self.path.endswith("/chat/completions")
        if what == "die":
            os._exit(1)
        if what == "silence":
            time.sleep(1.5)
        if what == "chat only" and not chat:
            what = "404"
        if what.isdigit():
            return self.reply(int(what), {"error": {"message": f"status {what} as told"}}, {"Retry-After": "0.2"})
        if what == "nonsense":
            return self.reply(200, "not JSON at all")
        text = {"refusal": None, "words": "I would rather not say.", "nine": "9"}.get(what, "")
        if chat:
            prompt = body["messages"][0]["content"]
            said = text or f"{max(range(6), key=lambda digit: self.answer(prompt)[digit])}"
            message = {"role": "assistant", "content": None if what == "refusal" else said}
            if what == "refusal":
                message["refusal"] = "I can't help with that."
            return self.reply(200, {"choices": [{"message": message, "finish_reason": "stop"}]})
        found = self.answer(body["prompt"])
        top = {digit: math.log(max(value, 1e-30)) for digit, value in zip(DIGITS, found, strict=True)}
        choice = {"text": text or "3.2", "finish_reason": "stop", "logprobs": {"top_logprobs": [top]}}
        if what == "new form":
            content = [{"top_logprobs": [{"token": " " + token, "logprob": value} for token, value in top.items()]}]
            choice["logprobs"] = {"content": content}
        if what in ("text", "words", "nine", "refusal"):
            choice["logprobs"] = None
        if what == "refusal":
            choice["finish_reason"] = "content_filter"
        return self.reply(200, {"choices": [choice]})

    def reply(self, status: int, content, headers=None):
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        # A client that lost patience has hung up.
        with suppress(OSError):
            self.wfile.write(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--smollm2", action="store_true")
    arguments = parser.parse_args()
    Handler.folder = arguments.folder
    if arguments.smollm2:
        Handler.answer = staticmethod(smollm2())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    waiting = arguments.folder / "port.new"
    waiting.write_text(str(server.server_address[1]))
    waiting.rename(arguments.folder / "port")
    server.serve_forever()


if __name__ == "__main__":
    main()
