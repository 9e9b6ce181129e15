"""The explorer as a user starts it: a process of its own, on a free port."""

import json
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

# Programs that were compiled before, as the tests themselves keep them.
COMPILED = Path(__file__).parents[2] / ".pytest_cache" / "xla"
# There is no TLS here, and reading the certificates takes longer than a request.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True)
class Running:
    """A server: its address, its process, and how long it took to say that it is there."""

    address: str
    process: subprocess.Popen
    seconds: float

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2].partition("/")[0])

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=60.0, verify=PLAIN)

    def post(self, path: str, body) -> httpx.Response:
        with self.client() as client:
            return client.post(path, json=body)

    def events(self, job: str, body) -> Iterator[dict]:
        """The events of a job, until it ends."""
        with self.client() as client, client.stream("POST", f"jobs/{job}", json=body) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line[6:])

    def children(self) -> list[int]:
        """The processes that do its work."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(each) for each in found.stdout.split()]

    def memory(self) -> int:
        """Bytes of memory that the server itself takes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("VmRSS:")[2].split()[0])


@contextmanager
def running(folder: Path, *arguments: str, **environment: str) -> Iterator[Running]:
    """A server in a folder; it is ended as a user would end it, and has to leave no process behind."""
    began = time.monotonic()
    package = Path(__file__).parents[2] / "src"
    paths = os.pathsep.join([str(package), str(package.parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "descant", "explore", "--no-browser", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "JAX_COMPILATION_CACHE_DIR": str(COMPILED), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stdout.read()
        yield Running(address[0], process, time.monotonic() - began)
        process.terminate()
        assert process.wait(20) == 0, process.stdout.read()
        assert process.stdout.read().endswith("The explorer has ended.\n")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
