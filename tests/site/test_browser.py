"""The site in a real browser, on a desk and on a phone: all is typeset and shown, and nothing is cut off."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.site_pages import CLIPPED, MISSING, UNTYPESET

pytestmark = pytest.mark.slow
AXE = (Path(__file__).parents[1] / "report" / "vendor" / "axe.min.js").read_text()
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# One page of each kind.
SOME = ("", "tutorial/risk/", "howto/layer/", "gallery/", "theory/gram/", "reference/tasks/", "commands/", "programs/")
CONTRAST = """async () => (await axe.run(document, {runOnly: ["color-contrast", "image-alt"]})).violations
    .flatMap((each) => each.nodes.map((node) => each.id + ": " + node.html.slice(0, 120)))"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def address(site):
    """The site on a server, since its links are to folders."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def tab(browser, request):
    """A tab of the scheme that the test is asked for, light if for none."""
    context = browser.new_context(viewport=DESK, color_scheme=getattr(request, "param", "light"))
    yield context.new_page()
    context.close()


def test_every_page(tab, address, site, pages):
    """Each is opened once, on a desk, and then made as narrow as a phone."""
    faults: list[str] = []
    ours, found = (address, "data:", "blob:"), {}
    tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
    tab.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
    tab.on("requestfailed", lambda asked: faults.append(f"failed: {asked.url}"))
    tab.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(ours) else None)
    for path in pages:
        name = path.parent.relative_to(site.resolve()).as_posix() + "/"
        tab.goto(address + name.removeprefix("./"), wait_until="load")
        for what in (UNTYPESET, MISSING, CLIPPED):
            faults += tab.evaluate(what)
        tab.set_viewport_size(PHONE)
        faults += [f"on a phone, {each}" for each in tab.evaluate(CLIPPED)]
        tab.set_viewport_size(DESK)
        if faults:
            found[name] = [*faults]
            faults.clear()
    assert found == {}


@pytest.mark.parametrize(
    ("name", "at", "copied"),
    [
        ("", 0, "pip install .    # in a clone"),
        ("reference/tasks/", 1, "import jax\ntask = LinearRegression(d=3, n=8, noise=FixedNoise(0.5))\n"),
    ],
)
def test_what_is_copied_can_be_run(tab, address, name, at, copied):
    """Without `$` and `>>>`, and without what they answered."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(address + name, wait_until="load")
    tab.locator("button[data-clipboard-target]").nth(at).click()
    text = tab.evaluate("navigator.clipboard.readText()")
    assert text.startswith(copied) and "(100, 8, 3)" not in text


@pytest.mark.parametrize("tab", ["light", "dark"], indirect=True)
def test_words_can_be_read(tab, address):
    """Enough contrast, and pictures have words."""
    found = {}
    for name in SOME:
        tab.goto(address + name, wait_until="load")
        tab.evaluate(AXE)
        if faults := tab.evaluate(CONTRAST):
            found[name] = faults
    assert found == {}
