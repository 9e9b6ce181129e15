"""How the explorer treats those who go, those who follow a link, and those it has to refuse."""

import asyncio
import json

import httpx
import pytest

pytest.importorskip("starlette", reason="Starlette is in the extra `explorer`")
pytest.importorskip("uvicorn", reason="uvicorn is in the extra `explorer`")

from starlette.requests import Request

from descant.explorer import _pages
from descant.explorer._app import Explorer
from descant.explorer._guard import Access, plain_host
from descant.explorer._pages import ROOMS, linked, page
from tests.support.explorer_server import PLAIN, running

GRAM = 'def gram(X: "n d"):\n    return X.T @ X\n'
# A text whose check takes seconds: many loops that are traced one by one.
SLOW = 'def f(X: "n n"):\n    for i in range(20000):\n        X = X @ X + i * X\n    return X\n'
OPENED = {"accept": "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("explorer"), "--host", "0.0.0.0") as found:
        yield found


@pytest.fixture(scope="module")
def client(server):
    token = server.address.partition("?token=")[2]
    named = {"cookie": f"descant-{server.port}={token}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60, headers=named, verify=PLAIN) as found:
        yield found


def leaving(body: bytes, *, after: float):
    """The channel of a page that sends a question, and goes away after so many seconds."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if left:
            return left.pop()
        await asyncio.sleep(after)
        return {"type": "http.disconnect"}

    return receive


def test_short_jobs_end_with_their_page(tmp_path):
    """Of checks whose pages have gone none waits on, and the one that was under way is stopped with its process."""

    async def visit() -> None:
        explorer = Explorer(tmp_path)
        scope = {"type": "http", "method": "POST", "headers": [], "path": "/check", "query_string": b""}

        async def check(text: str, after: float) -> int:
            body = json.dumps({"text": text, "settings": {"n": 3}}).encode()
            return (await explorer.check(Request(scope, leaving(body, after=after)))).status_code

        lane = explorer.jobs._quick
        try:
            assert await check(GRAM, 60.0) == 200
            (process,) = explorer.jobs.processes
            # One that takes seconds, and others behind it.
            assert await asyncio.gather(*(check(SLOW, 0.3) for _ in range(5))) == [204] * 5
            assert lane.waiting == 0 and process not in explorer.jobs.processes
            # Who is still there is heard; one that ends soon after its page leaves its process to others.
            assert await check(GRAM, 60.0) == 200
            (process,) = explorer.jobs.processes
            assert await check(GRAM, 0.0) in (200, 204)
            assert await check(GRAM, 60.0) == 200 and explorer.jobs.processes == [process]
        finally:
            await explorer.jobs.close()

    asyncio.run(visit())


def test_who_is_refused_with_a_browser_gets_a_page(server, client):
    bare = httpx.get(f"http://127.0.0.1:{server.port}/ask", headers=OPENED, verify=PLAIN)
    assert bare.status_code == 401 and bare.headers["content-type"].startswith("text/html")
    assert "This server asks for a token" in bare.text and "<script" not in bare.text
    assert "default-src 'none'" in bare.headers["content-security-policy"]
    lost = client.get("/<b>nowhere", headers=OPENED)
    assert lost.status_code == 404 and "<h1>Not Found</h1>" in lost.text and "<b>" not in lost.text
    # Scripts hear JSON, as before.
    assert json.loads(client.get("/nowhere").text) == {"sentence": "there is no such page."}


def test_a_page_knows_that_a_link_led_to_it(client):
    for site, told in (("cross-site", True), ("same-site", True), ("none", False), ("same-origin", False)):
        answer = client.get("/learn", headers={**OPENED, "sec-fetch-site": site})
        assert (b"<body data-linked " in answer.content) == told, site
    # A copy that a browser has kept of one is never taken for the other.
    plain = page("learn")
    assert plain is not None and linked(plain).tag != plain.tag
    again = {**OPENED, "sec-fetch-site": "cross-site", "if-none-match": plain.tag}
    assert client.get("/learn", headers=again).status_code == 200


def test_hosts_with_and_without_brackets_and_ports():
    access = Access(80)
    assert all(access.names(host) for host in ("127.0.0.1", "localhost", "[::1]", "127.0.0.1:80", "[::1]:80"))
    assert not any(
        access.names(host) for host in ("::1", "[::1", "[127.0.0.1]", "[::1]x", "[localhost]", "", "127.0.0.1:")
    )
    assert not any(Access(8765).names(host) for host in ("127.0.0.1", "localhost", "[::1]", "[::1]:80"))
    own = Access(80, plain_host("[2001:DB8:0::7]"), "token")
    assert own.names("[2001:db8::7]") and own.names("[2001:db8:0:0::7]:80") and not own.names("[2001:db8::8]")
    assert Access(9000, plain_host("::1")).names("[0:0:0:0:0:0:0:1]:9000")


def test_no_name_that_is_asked_for_is_kept():
    """They come from whoever asks, and may be as long as an address."""
    for number in range(50):
        assert page(f"nothing-{number}") is None
    assert _pages._page.cache_info().currsize <= len(ROOMS)
