"""Start the server process of the tests, tell it what to do, and see what it was asked."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Server:
    """A running server."""

    def __init__(self, folder: Path, process: subprocess.Popen, port: int):
        self.folder, self.process = folder, process
        self.url = f"http://127.0.0.1:{port}/v1"

    def tell(self, **script: str | dict) -> None:
        """What to do with requests, by number ("r3") or all of them: a mood, or what to send word for word."""
        text = json.dumps({name.removeprefix("r"): what for name, what in script.items()})
        (self.folder / "script.new").write_text(text)
        (self.folder / "script.new").rename(self.folder / "script.json")

    @property
    def requests(self) -> list[dict]:
        """All requests so far."""
        path = self.folder / "requests.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@contextmanager
def server(folder: Path, *options: str) -> Iterator[Server]:
    """A server while it is needed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "script.json").write_text("{}")
    process = subprocess.Popen([sys.executable, "-m", "tests.support.llm_server", str(folder), *options])
    try:
        deadline = time.monotonic() + 180
        while not (folder / "port").exists():
            assert process.poll() is None, "the server did not start"
            assert time.monotonic() < deadline, "the server did not start in time"
            time.sleep(0.05)
        yield Server(folder, process, int((folder / "port").read_text()))
    finally:
        process.kill()
        process.wait()
