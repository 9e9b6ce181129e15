"""What a hostile page or program can do to the explorer: it is refused or bounded, and the server goes on."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest

pytest.importorskip("starlette", reason="Starlette is in the extra `explorer`")
pytest.importorskip("uvicorn", reason="uvicorn is in the extra `explorer`")

from descant.explorer import _compile, _worker
from descant.explorer._claims import listing
from descant.explorer._guard import MOST_BYTES, SLOWEST_S, Access
from descant.explorer._jobs import _Worker
from descant.explorer._pictures import picture
from descant.figures import Axis, Figure, HeatMap, Panel, Series, drawing
from tests.support.explorer_server import PLAIN, Running, running

PROGRAM = 'def gram(X: "n d"):\n    return X.T @ X\n'
QUESTION = {"task": {"d": 5, "n": 5, "mean": 1.0, "levels": [0.0]}, "heads": 2}
TRAINING = {"task": {"d": 2, "n": 5, "levels": [0.5]}, "model": "lsa", "steps": 20000}
# One of each sort of route.
ROUTES = (
    ("GET", "/"),
    ("GET", "/ask"),
    ("GET", "/files/common.js"),
    ("GET", "/report/index.html"),
    ("GET", "/claims/list"),
    ("GET", "/models/0"),
    ("POST", "/ask"),
    ("POST", "/check"),
    ("POST", "/picture"),
    ("POST", "/jobs/learn"),
    ("GET", "/jobs/learn"),
    ("GET", "/nowhere"),
    ("OPTIONS", "/ask"),
    ("PUT", "/ask"),
    ("HEAD", "/ask"),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "secret.txt").write_text("secret")
    report = folder / "report"
    (report / "claims").mkdir(parents=True)
    (report / "index.html").write_text("<p>a report</p>")
    (report / "claims" / "one.html").write_text("<p>one</p>")
    (report / "evidence").mkdir()
    (report / "evidence" / "judgement.json").write_text("{}")
    (report / "claims" / "link.html").symlink_to(folder / "secret.txt")
    with running(folder, DESCANT_RUNS=str(folder / "runs")) as found:
        yield found


def answers(server: Running) -> None:
    """The server is as it was."""
    found = server.post("ask", QUESTION)
    risks = {row["name"]: row["risk"] for row in found.json()["rows"]}
    assert found.status_code == 200 and abs(risks["lsa"] - 4.556578645263752) < 1e-9


def ask(server: Running, method: str, path: str, **headers: str) -> httpx.Response:
    body = json.dumps(QUESTION) if method in ("POST", "PUT") else None
    named = {"content-type": "application/json"} if body else {}
    with server.client() as client:
        return client.request(method, path, content=body, headers={**named, **headers})


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"),
        *("localhost:{port}x", "127.0.0.1:{port}@evil.example", "", "2130706433:{port}", "localhost.:{port}"),
    ],
)  # fmt: skip
def test_a_foreign_host_is_refused_on_every_route(server, host):
    for method, path in ROUTES:
        found = ask(server, method, path, host=host.format(port=server.port))
        assert found.status_code in (400, 421), (method, path)
        assert "risk" not in found.text


def test_names_of_this_machine_are_taken(server):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert ask(server, "GET", "/ask", host=f"{name}:{server.port}").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://127.0.0.1.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        # An EventSource of another site.
        {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "accept": "text/event-stream"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_another_site_is_refused_on_every_route(server, headers):
    for method, path in ROUTES:
        assert ask(server, method, path, **headers).status_code == 403, (method, path)


def test_a_link_from_elsewhere_opens_a_page_and_starts_nothing(server):
    opened = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert ask(server, "GET", "/ask", **opened).status_code == 200
    assert ask(server, "POST", "/jobs/learn", **opened).status_code == 403


def test_a_head_in_one_piece_is_bounded_too(server):
    raw = f"GET /ask HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nx: {'y' * 100_000}\r\nconnection: close\r\n\r\n"
    assert sent(server, raw.encode())[0] in (400, 431)


def test_numbers_of_hundreds_of_digits_are_refused_in_a_sentence(server):
    found = server.post("ask", {**QUESTION, "task": {**QUESTION["task"], "mean": 10**400}})
    assert found.status_code == 400 and "mean is" in found.json()["sentence"]


def test_every_kind_of_panel_becomes_a_picture():
    """The page sends back what it was given to draw."""
    line = Panel("", Axis("x"), Axis("y"), (Series("s", (1.0, 2.0), (1.0, 3.0)),))
    heat = HeatMap("", ((1.0, -1.0),))
    for panel in (line, heat):
        ready = json.loads(json.dumps(drawing(Figure("f", "Title", "", (panel,)))))
        assert [each["event"] for each in picture({"suffix": "svg", "figure": ready})] == ["picture"]


def test_a_verdict_of_another_version_is_not_run_here(tmp_path):
    page = {"verdicts": [{"id": "elsa-convergence", "standing": "<b>new</b>"}]}
    (tmp_path / "verdicts.json").write_text(json.dumps(page))
    standings = {each["standing"] for paper in listing(tmp_path)["papers"] for each in paper["claims"]}
    assert standings == {"not-run"}


def test_a_form_of_another_site_can_send_no_json(server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert ask(server, "POST", "/ask", **{"content-type": kind}).status_code == 415
    answers(server)


def test_headers_of_every_answer(server):
    for method, path in ROUTES:
        found = ask(server, method, path)
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in found.headers


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.txt", "..%2fsecret.txt", "claims/../../secret.txt", "%2e%2e/%2e%2e/secret.txt", "/etc/passwd"),
        *("claims/link.html", "evidence/judgement.json", "claims/%00.html", "claims\\one.html", "..%5csecret.txt"),
        *(".hidden.html", "claims/one.html/../../../secret.txt", "nul", "index.html%0aevil"),
        "claims/" + "x" * 5000 + ".html",
    ],
)  # fmt: skip
def test_paths_lead_nowhere_but_into_the_report(server, path):
    raw = f"GET /report/{path} HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nconnection: close\r\n\r\n"
    status, text = sent(server, raw.encode())
    assert status in (400, 404), text
    assert "secret" not in text
    for name in (path, f"files/{path}", f"models/{path}"):
        status, text = sent(server, raw.replace(f"/report/{path}", f"/{name}").encode())
        assert status in (400, 403, 404, 405) and "secret" not in text and "root:" not in text


def test_what_is_nowhere_is_told_in_a_sentence(server):
    for method, path in (("GET", "/a/b/c"), ("GET", "//etc/passwd"), ("GET", "/jobs/learn"), ("POST", "/claims/list")):
        found = ask(server, method, path)
        assert found.status_code in (404, 405) and found.json()["sentence"].endswith("."), path


def test_a_picture_of_nothing_gets_a_sentence(server):
    empty = {"name": "f", "title": "", "columns": 1, "panels": [], "legend": []}
    found = server.post("picture", {"suffix": "png", "figure": empty})
    assert (found.status_code, found.json()["sentence"]) == (400, "panels is empty; expected one at least.")


def test_a_process_that_has_taken_much_memory_does_no_other_job(monkeypatch):
    """Allocators give little of it back: it would stay with the server."""
    monkeypatch.setattr(_worker, "SPENT", 1)
    assert _worker._spent()
    monkeypatch.undo()

    def bursts(asked):
        raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 65536 bytes.")

    monkeypatch.setattr(_compile, "compiled", bursts)
    assert [*_worker.answered("compile", {})] == [{"event": "failed", "sentence": _worker.NO_MEMORY}]


PARENT = """
import subprocess, sys
much = bytearray(300 << 20)
print(subprocess.run([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, check=True, text=True).stdout)
"""


def test_a_process_is_not_blamed_for_the_memory_of_the_one_that_started_it():
    child = "from descant.explorer._worker import taken; print(taken())"
    found = subprocess.run([sys.executable, "-c", PARENT, child], stdout=subprocess.PIPE, check=True, text=True)
    assert 0 < int(found.stdout) < 200 << 20


def test_a_program_has_less_memory_and_only_in_a_process_of_its_own():
    """A limit that a test, or whoever calls a job without a process, had set on itself would stay."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    asked = {"text": PROGRAM, "settings": {"n": 3}}
    assert [*_worker.answered("check", asked)][-1] == {"event": "done"}
    assert resource.getrlimit(resource.RLIMIT_DATA) == before

    async def limits() -> list[int]:
        worker = await _Worker.start()
        try:
            found = []
            for job in ("check", "sources"):
                await worker.ask(job, asked)
                while (await worker.event())["event"] not in ("done", "failed"):
                    pass
                found.append(resource.prlimit(worker.process.pid, resource.RLIMIT_DATA)[0])
            return found
        finally:
            await worker.end()

    assert asyncio.run(limits()) == [_worker.LESS_MEMORY["check"], _worker.MOST_MEMORY]


def test_the_report_is_shown(server):
    with server.client() as client:
        assert client.get("report/index.html").text == "<p>a report</p>"
        assert client.get("report/claims/one.html").headers["content-type"].startswith("text/html")


def sent(server: Running, raw: bytes, pause: float = 0.0) -> tuple[int, str]:
    """Bytes as they are, which no client would send; the status and the rest of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        for piece in raw.split(b"|") if pause else [raw]:
            with suppress(OSError):
                connection.sendall(piece)
            time.sleep(pause)
        found = b""
        with suppress(OSError):
            while piece := connection.recv(65536):
                found += piece
    status = int(found.split(b" ", 2)[1]) if found.startswith(b"HTTP/1.1 ") else 0
    return status, found.decode(errors="replace")


def test_bodies_that_are_too_large(server):
    head = f"POST /ask HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-type: application/json\r\n"
    assert sent(server, f"{head}content-length: {MOST_BYTES + 1}\r\n\r\n".encode())[0] == 413
    assert sent(server, f"{head}content-length: {10**30}\r\n\r\n".encode())[0] in (400, 413)
    assert sent(server, f"{head}content-length: -1\r\n\r\n".encode())[0] in (400, 413)
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    assert sent(server, f"{head}transfer-encoding: chunked\r\n\r\n".encode() + 3 * chunk + b"0\r\n\r\n")[0] in (0, 413)
    assert sent(server, f"GET /ask?{'x' * 200_000} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())[0] in (0, 400)
    answers(server)


def test_bodies_and_heads_that_are_too_slow(server):
    """All at once, so that the test takes the time of one: each is cut off."""
    head = f"POST /ask HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-type: application/json\r\n"
    began, slow = time.monotonic(), []
    for raw in (b"GET /ask HTT", b"", f"{head}content-length: 100\r\n\r\n{{".encode(), f"{head}x: ".encode()):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=SLOWEST_S + 20)
        connection.sendall(raw)
        slow.append(connection)
    # After a request that was answered, the head of another one that never ends.
    again = socket.create_connection(("127.0.0.1", server.port), timeout=SLOWEST_S + 20)
    again.sendall(f"HEAD /files/common.js HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    assert again.recv(65536).startswith(b"HTTP/1.1 ")
    again.sendall(b"GET /as")
    slow.append(again)
    answers(server)
    ended = []
    for connection in slow:
        with connection:
            ended.append(connection.recv(65536)[:12])
    assert ended == [b"", b"", b"HTTP/1.1 408", b"", b""]
    assert time.monotonic() - began < SLOWEST_S + 10
    answers(server)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[" * 100_000, b"null", b"[]", b'"x"', b"{}", b'{"task": 1}', b"\xff\xfe"),
        b'{"task": {"d": 1e400}}',
        *(json.dumps({**QUESTION, "task": {**QUESTION["task"], "d": d}}).encode() for d in (0, -1, 13, 1e9, "5", True)),
        *(json.dumps({**QUESTION, **more}).encode() for more in ({"heads": 10**400}, {"extra": 1}, {"task": None})),
    ],
)  # fmt: skip
def test_questions_that_mean_nothing_get_a_sentence(server, body):
    with server.client() as client:
        for path in ("ask", "check", "picture", "jobs/learn", "jobs/inside", "jobs/compile", "jobs/claim"):
            if path != "ask" and body not in (b"{", b"[" * 100_000, b"null"):
                continue
            found = client.post(path, content=body, headers={"content-type": "application/json"})
            assert found.status_code == 400 and found.json()["sentence"].endswith("."), path


PROGRAMS = {
    "import": "import os\nos.system('touch /tmp/evil')\n",
    "call": 'def f(X: "n d"):\n    return __import__("os").system("touch evil")\n',
    "attribute": 'def f(X: "n d"):\n    return X.__class__.__base__.__subclasses__()\n',
    "decorator": '@print\ndef f(X: "n d"):\n    return X\n',
    "default": 'def f(X: "n d", *, a=open("evil", "w")):\n    return X\n',
    "sizes": "def f(X: \"__import__('os') d\"):\n    return X\n",
    "deep": 'def f(X: "n d"):\n    return ' + "(" * 3000 + "X" + ")" * 3000 + "\n",
    "null": 'def f(X: "n d"):\n    return X\0\n',
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_malicious_program_is_rejected_with_a_sentence(server, name, tmp_path):
    found = server.post("check", {"text": PROGRAMS[name], "settings": {}}).json()
    assert found["event"] == "checked" and found["error"]["sentence"].endswith(".")
    assert not os.path.exists("/tmp/evil")


GRAM = 'def gram(X: "n d"):\n    return X.T @ X\n'
BOMBS = {
    "loops": 'def f(X: "n n"):\n    for i in range(10**9):\n        X = X @ X\n    return X\n',
    "nested": 'def f(X: "n n"):\n' + "".join(f"{'    ' * (k + 1)}for i{k} in range(50):\n" for k in range(8))
    + "    " * 9 + "X = X + X\n    return X\n",
    "power": 'def f(X: "n n", *, a=9**9**9):\n    return a * X\n',
    "large": 'def f(X: "n d"):\n    return X.T @ X\n',
    "sum": 'def f(X: "n n"):\n    return ' + " + ".join(["X @ X @ X"] * 1500) + "\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_compile_bomb_is_bounded(server, name):
    settings = {"n": 4096, "d": 4096} if name == "large" else {"n": 3}
    *_, last = server.events("compile", {"text": BOMBS[name], "settings": settings, "prefer": "work"})
    assert last["event"] in ("done", "failed")
    answers(server)


def test_a_claim_or_a_run_of_an_evil_name(server):
    for name in ("../../etc", "/etc/passwd", "a/b", "..", "\0", "x" * 150):
        *_, last = server.events("claim", {"id": name})
        assert last["event"] == "failed" and last["sentence"].endswith(".")
    for source in ({"run": "../.."}, {"network": "../../secret"}, {"run": "/"}, {"weights": "eA=="}):
        *_, last = server.events("inside", {"source": source, "seed": 0})
        assert last["event"] == "failed" and last["sentence"].endswith(".")
    # A page can't say where files go, nor send weights of its own.
    *_, last = server.events("claim", {"id": "nothing", "folder": "/tmp/evil"})
    assert last["event"] == "failed" and not os.path.exists("/tmp/evil")


def test_jobs_end_when_their_page_goes(server):
    """In the middle of their events, before the first, and while they wait: each makes room for others."""
    idle = set(server.children())  # those that wait for a job, of this sort or another
    for lines in (30, 0, 3):
        with server.client() as client, client.stream("POST", "jobs/learn", json=TRAINING) as answer:
            for _, line in zip(range(lines), answer.iter_lines(), strict=False):
                assert not line.startswith("data:") or json.loads(line[5:])["event"] != "failed"
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not set(server.children()) <= idle:
        time.sleep(0.1)
    assert set(server.children()) <= idle
    events = [each["event"] for each in server.events("compile", {"text": GRAM, "settings": {}})]
    assert events[-2:] == ["run", "done"] and "waiting" not in events


async def load(server: Running, requests: int, streaming: int) -> tuple[list[int], int]:
    """So many requests at once, and streams beside them; the statuses, and how many streams gave a sign of life."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.address, timeout=120, limits=limits, verify=PLAIN) as client:
        opened = [
            client.build_request("POST", "jobs/learn", json={**TRAINING, "seed": seed}) for seed in range(streaming)
        ]
        streams = await asyncio.gather(*(client.send(each, stream=True) for each in opened))
        signs = [asyncio.create_task(anext(each.aiter_lines())) for each in streams]

        async def one(index: int) -> int:
            if index % 2:
                body = {**QUESTION, "task": {**QUESTION["task"], "n": 1 + index % 8}, "moving": True}
                return (await client.post("ask", json=body)).status_code
            return (
                await client.get(("ask", "files/common.js", "files/theme.js", "claims")[index // 2 % 4])
            ).status_code

        statuses = await asyncio.gather(*(one(index) for index in range(requests)))
        alive = len([each for each in await asyncio.gather(*signs) if each])
        statuses += [each.status_code for each in streams]
        await asyncio.gather(*(each.aclose() for each in streams))
    return statuses, alive


@pytest.mark.slow
def test_many_at_once_and_nothing_stays(server):
    answers(server)
    statuses, alive = asyncio.run(load(server, 1000, 100))
    assert statuses == [200] * 1100 and alive == 100
    # What so many need at once the allocator keeps; of the same again nothing may stay.
    before = server.memory()
    statuses, alive = asyncio.run(load(server, 400, 100))
    deadline = time.monotonic() + 30
    assert statuses == [200] * 500 and alive == 100
    # Whoever waited is gone; the processes that worked have been ended, and at most the idle ones are left.
    while time.monotonic() < deadline and len(server.children()) > 3:
        time.sleep(0.2)
    assert len(server.children()) <= 3
    assert server.memory() < before + (16 << 20)
    answers(server)


def test_exposed_to_others_it_asks_for_a_token(tmp_path):
    with running(tmp_path, "--host", "0.0.0.0") as exposed:
        port, token = exposed.port, exposed.address.partition("token=")[2]
        assert len(token) >= 32
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", verify=PLAIN) as client:
            for method, path in ROUTES:
                if method in ("GET", "POST", "HEAD"):
                    kind = {"content-type": "application/json"} if method == "POST" else {}
                    assert client.request(method, path, headers=kind).status_code == 401
            assert client.get("/ask?token=wrong").status_code == 401
            assert client.get("/ask", headers={"cookie": f"descant-{port}=wrong"}).status_code == 401
            assert client.get("/ask", headers={"cookie": 'descant-"\\;;;==,'}).status_code == 401
            # Two slashes would lead to another host.
            raw = f"GET //evil.example/ask?n=7&token={token} HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n"
            assert "\r\nlocation: /evil.example/ask?n=7\r\n" in sent(exposed, raw.encode())[1]
            found = client.get(f"/ask?n=7&token={token}")
            assert found.status_code == 303 and found.headers["location"] == "/ask?n=7"
            assert "HttpOnly" in found.headers["set-cookie"] and "SameSite=Lax" in found.headers["set-cookie"]
            assert client.get("/ask").status_code == 200
            # Cookies of other servers on this host stand beside ours.
            beside = {"cookie": f'prefs={{"a":1}}; a b=1; descant-{port}={token}'}
            assert httpx.get(f"http://127.0.0.1:{port}/ask", headers=beside, verify=PLAIN).status_code == 200
            assert client.get("/ask", headers={"host": f"evil.example:{port}"}).status_code == 421
            assert client.post("/ask", json=QUESTION, headers={"origin": "http://evil.example"}).status_code == 403
            assert client.post("/ask", json=QUESTION).status_code == 200


def test_names_of_an_exposed_server():
    access = Access(80, "0.0.0.0", "token")
    assert (
        access.names("192.168.1.7:80") and access.names("[fe80::1]:80") and access.names(f"{socket.gethostname()}:80")
    )
    assert not access.names("evil.example:80") and not access.names("192.168.1.7:81") and not access.names("1.2.3:80")
    assert not Access(80).names("192.168.1.7:80")
