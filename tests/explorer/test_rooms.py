"""The five rooms in a real browser, as somebody would use them who has never seen them."""

import json
import re
from pathlib import Path

import pytest

from descant.explorer._task import Task
from descant.measure import best, risk
from tests.support.commands import run

pytest.importorskip("starlette", reason="Starlette is in the extra `explorer`")
pytest.importorskip("uvicorn", reason="uvicorn is in the extra `explorer`")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")

from tests.support.explorer_server import running  # noqa: E402

AXE = (Path(__file__).parents[1] / "report" / "vendor" / "axe.min.js").read_text()
ROOMS = ("ask", "learn", "inside", "compile", "claims")
PHONE = {"width": 390, "height": 844}
CLAIM = "four-weights"
# Compiling, the first time, on a busy machine.
LONG = 120_000
playwright.expect.set_options(timeout=LONG)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorer")
    with running(folder) as found:
        yield found


@pytest.fixture
def tab(browser, server):
    """Opens tabs that remember their complaints; at the end there must be none."""
    contexts, faults = [], []

    # To a browser this machine's two names are two sites.
    also = server.address.replace("127.0.0.1", "localhost")

    def make(path: str, localhost: bool = False, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(LONG)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("request", lambda each: faults.append(each.url) if not each.url.startswith(allowed) else None)
        page.goto((also if localhost else server.address) + path)
        return page

    allowed = (server.address, also, "data:", "blob:")
    yield make
    for context in contexts:
        context.close()
    assert not faults, faults


def shown(page, selector: str) -> str:
    page.wait_for_selector(selector)
    return page.inner_text(selector)


def serious(page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [
        f"{fault['id']}, {node['target']}: {node['failureSummary']}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def set_number(page, name: str, value: float) -> None:
    box = page.locator(f".control[data-name={name}] input[type=number]").first
    box.fill(str(value))
    box.press("Enter")


def test_ask_a_slider_to_an_exact_value(tab, capsys):
    page = tab("ask?n=5&noise=0")
    page.wait_for_selector("#curves svg")
    # By keyboard, while the curves follow.
    slider = page.locator("#n")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator("#command")).to_have_text("descant risk lsa --d 5 --n 8 --prior-mean 1 --noise 0")
    status, out, _ = run(*page.inner_text("#command").split()[1:], "--json", capsys=capsys)
    exact = json.loads(out)["risk"]
    assert status == 0
    cell = page.locator("tr[data-name=lsa] td.numeric")
    playwright.expect(cell).to_have_text(f"{exact:.6g}")
    assert "n=8" in page.url and "noise=0" in page.url
    # The formula behind a curve is one click away.
    page.click("tr[data-name=gd-beta] button")
    assert page.locator("#formula .katex").count() >= 2 and "prior mean" in page.inner_text("#formula-about")
    page.click("#formula-close")
    # A link shows what one sees.
    other = tab(page.url.rpartition("/")[2])
    playwright.expect(other.locator("tr[data-name=lsa] td.numeric")).to_have_text(f"{exact:.6g}")


def test_ask_searches_where_there_is_no_formula(tab):
    page = tab("ask?d=2&n=6&condition=4&axis=heads")
    cell = page.locator("tr[data-name=lsa] td.numeric")
    task = Task(d=2, n=6, mean=1.0, condition=4.0, levels=(0.5,)).regression()
    exact = risk(best("lsa", task), task).value
    playwright.expect(cell).to_have_text(f"{exact:.6g}")
    playwright.expect(page.locator("#status")).to_have_text("")


def test_figures_are_taken_along(tab):
    page = tab("ask?d=2&axis=heads&noise=0")
    page.wait_for_selector("#curves svg")
    found = {}
    for kind in ("png", "svg", "csv"):
        with page.expect_download() as waiting:
            page.click(f"#curves [data-as={kind}]")
        assert waiting.value.suggested_filename == f"descant-ask.{kind}"
        found[kind] = Path(waiting.value.path()).read_bytes()
    assert found["png"].startswith(b"\x89PNG") and b"<svg" in found["svg"][:1000]
    lines = found["csv"].decode().splitlines()
    assert lines[0] == "panel,series,x,y,standard_error"
    page.click("#curves [data-as=python]")
    # What it makes when it is run is looked at in test_python.py.
    assert "classes = {" in page.inner_text("#code-text")


def test_learn_to_the_exact_line_and_look_inside(tab):
    page = tab("learn?d=2&n=6&steps=600")
    page.click("#train")
    page.wait_for_selector("#status[data-risk]")
    task = Task(d=2, n=6, mean=1.0, levels=(0.5,)).regression()
    least = risk(best("lsa", task), task).value
    found = float(page.get_attribute("#status", "data-risk"))
    assert least <= found < 1.01 * least
    assert int(page.get_attribute("body", "data-updates")) >= 10
    # On another task: with a longer context than it has seen.
    page.wait_for_selector("#shifted svg")
    playwright.expect(page.locator("#other-status")).to_contain_text("On this task its risk is")
    before = page.inner_text("#other-status")
    page.locator("#other .control[data-name=mean] input[type=number]").fill("3")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#other-status")).not_to_have_text(before)
    assert "other-mean=3" in page.url
    page.click("#look")
    page.wait_for_selector("#walk svg")
    assert "trained in the room Learn" in page.inner_text("#status")
    playwright.expect(page.locator("#sentence")).not_to_have_text("Reading the weights.")
    page.click("#next")
    assert page.inner_text("#layer-now") == "1 of 1" and "layer=1" in page.url
    assert page.locator("#maps svg").count() == 2
    # A single layer is the whole: no line below is about it alone.
    assert page.locator("#lines li.now").count() == 0
    # The link of this page, opened by somebody else.
    other = tab(page.url.rpartition("/")[2])
    other.wait_for_selector("#walk svg")
    assert other.inner_text("#layer-now") == "1 of 1"


def test_inside_a_network_that_came_along(tab):
    page = tab("inside?source=network:1-3-gd-2&layer=1")
    page.wait_for_selector("#walk svg")
    assert page.inner_text("#layer-now") == "1 of 2"
    page.focus("#layer")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#layer-now") == "2 of 2" and page.is_disabled("#next")
    playwright.expect(page.locator("#lines li.now")).to_have_count(1)


def test_compile_a_program_with_an_error_that_is_mended(tab):
    page = tab("compile?example=power")
    page.wait_for_selector("[data-fact=Error][data-error]")
    text = 'def gram(X: "n d"):\n    G = X.T @ Z\n    return G\n'
    page.fill("#text", text)
    playwright.expect(page.locator("#complaint")).to_contain_text("Line 2:")
    assert page.inner_text(".marks u") == "Z" and page.is_disabled("#build")
    assert page.get_attribute("#text", "aria-invalid") == "true"
    page.fill("#text", text.replace("Z", "X"))
    playwright.expect(page.locator("#complaint")).to_have_text("No mistake is seen.")
    assert not page.locator(".marks u").count()
    page.fill("#settings input[name=n]", "4")
    page.press("#settings input[name=n]", "Enter")
    page.wait_for_selector("dd[data-fact=H]:has-text('4 ×')")
    page.wait_for_selector("[data-fact=Error][data-error]")
    assert float(page.get_attribute("[data-fact=Error]", "data-error")) < 1e-12
    assert "reads" in page.inner_text("#blocks") and page.locator("svg.h").count() >= 2
    with page.expect_download() as waiting:
        page.click("#weights")
    assert waiting.value.suggested_filename in ("network.safetensors", "program.json")
    other = tab(page.url.rpartition("/")[2])
    assert other.input_value("#text") == text.replace("Z", "X")


def test_numbers_of_lines_stay_beside_them_however_many_they_are(tab):
    page = tab("compile?example=power")
    page.wait_for_selector("[data-fact=Error][data-error]")
    page.fill("#text", 'def gram(X: "n d"):\n' + "    G = X.T @ X\n" * 60 + "    return G\n")
    page.locator("#text").evaluate("text => { text.scrollTop = text.scrollHeight; }")
    page.wait_for_function("document.querySelector('.lines').scrollTop > 0")
    place = "part => [part.scrollTop, part.clientHeight]"
    (lines, their_height), (text, its_height) = (page.locator(name).evaluate(place) for name in (".lines", "#text"))
    assert abs(lines - text) < 2 and abs(their_height - its_height) < 20


def test_a_claim_is_run_again(tab):
    page = tab("claims")
    page.fill("input[name=words]", CLAIM)
    playwright.expect(page.locator("#found")).to_contain_text("1 of")
    page.click(f"li[data-id={CLAIM}] button")
    page.click("#run")
    playwright.expect(page.locator("#one-status")).to_contain_text("Judged in")
    assert page.locator("#one-badge .badge.holds").count() == 1 and page.locator("#checks tbody tr").count() >= 1
    # Rounding is not at most zero: the check says what it allows.
    assert re.search(r"≤ 0 tolerance [1-9]", page.inner_text("#checks tbody tr:first-child"))
    assert f"claim={CLAIM}" in page.url
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(tab, scheme):
    for room, ready in zip(ROOMS, ("#curves svg", "#train", "#source", "#facts dd", "#papers .group"), strict=True):
        page = tab(room, color_scheme=scheme, **({"viewport": PHONE} if scheme == "dark" else {}))
        page.wait_for_selector(ready)
        assert not serious(page), room


def test_a_phone_never_scrolls_sideways(tab):
    for room, ready in zip(ROOMS, ("#curves svg", "#train", "#source", "#facts dd", "#papers .group"), strict=True):
        page = tab(room, viewport=PHONE)
        page.wait_for_selector(ready)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], room


def test_trouble_is_told(tab):
    page = tab("inside?source=run:nothing")
    playwright.expect(page.locator("#trouble")).to_contain_text("has no run of that name")


def test_a_link_of_another_site_waits_for_a_click(tab, server):
    """The training that it names begins when somebody presses Start, and not before."""
    page = tab("claims", localhost=True)
    asked = []
    page.on("request", lambda each: asked.append(each.url) if "/jobs/" in each.url else None)
    page.evaluate("address => { location.href = address; }", server.address + "learn?d=2&n=6&steps=100&trained=1")
    playwright.expect(page.locator("#linked")).to_be_visible()
    page.wait_for_timeout(300)
    assert not asked
    page.click("#linked button")
    page.wait_for_selector("#status[data-risk]")
    assert asked and page.is_hidden("#linked")
