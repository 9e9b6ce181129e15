"""The report in a real browser, opened from disk as a reader would."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from descant.claims import PAPERS
from descant.figures import Axis, Figure, Map, drawing
from descant.figures.static import pictures
from descant.report import figure_page, write_report
from tests.support.report_claims import claims, judgements

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# One page of each kind; the cheap tests look at all of them.
SOME = (
    "index.html",
    "claims/elsa-curves.html",
    "claims/ltb-maps.html",
    "claims/elsa-failed.html",
    "claims/lt-not-run.html",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, claims(), judgements())
    return folder


class Reader:
    """A tab that remembers everything it asked for and everything it complained about."""

    def __init__(self, browser, folder: Path, **options):
        self.folder = folder
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("console", lambda message: self.faults.append(f"{message.type}: {message.text}"))

    def open(self, name: str):
        self.page.goto((self.folder / name).as_uri())
        return self.page


@pytest.fixture
def reader(browser, report):
    opened = []

    def make(**options) -> Reader:
        opened.append(Reader(browser, report, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()


def all_pages() -> list[str]:
    return ["index.html", *(f"claims/{id}.html" for id in claims())]


def test_every_page_opens_from_disk_and_nothing_is_fetched(reader, report):
    tab = reader()
    figures = 0
    for name in all_pages():
        page = tab.open(name)
        for figure in page.query_selector_all("figure[data-figure]"):
            data = json.loads(page.inner_text(f"#data-{figure.get_attribute('data-figure')}"))
            drawn = figure.query_selector_all(".drawn > svg")
            assert len(drawn) == len(data["panels"]) and "asleep" not in (figure.get_attribute("class") or "")
            assert all(svg.bounding_box()["width"] > 100 for svg in drawn)
            figures += 1
        assert page.evaluate("[...document.querySelectorAll('.math')].every((each) => each.querySelector('.katex'))")
    assert figures == 6
    assert all(url.startswith(("file://", "data:")) for url in tab.asked)
    assert not tab.faults, tab.faults


def test_every_link_opens(reader, report):
    tab = reader()
    followed = set()
    for name in all_pages():
        page = tab.open(name)
        addresses = page.evaluate("[...document.querySelectorAll('a[href]')].map((each) => each.href)")
        for address in {each.partition("#")[0] for each in addresses} - followed:
            followed.add(address)
            if address.startswith("https://arxiv.org/abs/"):
                continue
            assert address.startswith(report.as_uri()), address
            assert (report / address.removeprefix(report.as_uri() + "/")).is_file(), address
    assert len(followed) > 30
    page = tab.open("index.html")
    for step in range(len(claims())):
        page.click("li.claim a" if step == 0 else "a[rel=next]")
        assert page.url.endswith(f"{list(claims())[step]}.html")
    assert page.query_selector("a[rel=next]") is None


def test_without_a_script_pictures_and_sources_show(reader):
    tab = reader(java_script_enabled=False)
    for name in all_pages():
        page = tab.open(name)
        for picture in page.query_selector_all("img.still"):
            picture.scroll_into_view_if_needed()
            box = picture.bounding_box()
            assert box["width"] > 300 and box["height"] > 150
        assert not page.is_visible("#theme") and not page.query_selector_all(".copy:visible, #filters:visible")
    page = tab.open("claims/elsa-curves.html")
    assert r"\psi d\,(d+1+k)/(n+d+1+k)" in page.inner_text(".said")
    assert any(url.endswith("risk-against-n.svg") for url in tab.asked)
    assert not tab.faults, tab.faults


@pytest.mark.parametrize("script", [True, False])
def test_a_phone_never_scrolls_sideways(reader, script):
    tab = reader(viewport=PHONE, java_script_enabled=script)
    for name in all_pages():
        page = tab.open(name)
        for details in page.query_selector_all("details > summary"):
            details.click()
        # Without scripts there is no asking for widths; a screenshot of the whole page is as wide as the page.
        width = (
            page.evaluate("document.documentElement.scrollWidth") if script else _width(page.screenshot(full_page=True))
        )
        assert width == PHONE["width"], name


def _width(png: bytes) -> int:
    return int.from_bytes(png[16:20], "big")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "viewport", [pytest.param(DESKTOP, id="desktop"), pytest.param(PHONE, id="phone", marks=pytest.mark.slow)]
)
def test_axe_finds_no_serious_fault(reader, scheme, viewport):
    tab = reader(color_scheme=scheme, viewport=viewport)
    for name in SOME:
        page = tab.open(name)
        page.add_script_tag(path=AXE)
        found = page.evaluate("async () => (await axe.run(document)).violations")
        serious = [
            f"{name}: {fault['id']}, {node['target']}: {node['failureSummary']}"
            for fault in found
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]
        assert not serious, "\n".join(serious)


def test_filters(reader):
    tab = reader()
    page = tab.open("index.html")

    def shown() -> list[str]:
        links = page.query_selector_all("li.claim:not([hidden]) .what a")
        return [link.get_attribute("href").removeprefix("claims/").removesuffix(".html") for link in links]

    order = sorted(claims().values(), key=lambda each: (list(PAPERS).index(each.paper), each.whose != "paper"))
    assert shown() == [each.id for each in order] and page.inner_text("#found") == "12 claims"
    page.click("label:has(input[value='does-not-hold'])")
    assert shown() == ["guess-refuted", "ltb-refuted"] and page.inner_text("#found") == "2 of 12 claims"
    page.click("label:has(input[value='ltb'])")
    assert shown() == ["ltb-refuted"]
    assert page.query_selector_all(".group:visible h3")[0].get_attribute("id") == "paper-ltb"
    # With the keyboard: the arrows move within a group of choices.
    page.focus("input[name=verdict]:checked")
    page.keyboard.press("ArrowLeft")
    assert shown() == ["ltb-maps"]
    page.click("label:has(input[name=verdict][value=''])")
    page.click("label:has(input[name=paper][value=''])")
    page.click("label:has(input[name=whose][value='ours'])")
    assert shown() == ["ltb-maps"] and len(page.query_selector_all(".part:visible")) == 1
    page.click("label:has(input[name=whose][value=''])")
    page.fill("input[name=words]", "BAYES heads")
    assert shown() == []
    page.fill("input[name=words]", "prior mean")
    assert shown() == ["guess-flat", "ltb-maps"]
    for paper in {each.paper for each in claims().values()}:
        assert page.query_selector(f"input[name=paper][value='{paper}']")


def test_the_theme_is_switched_and_remembered(reader):
    tab = reader(color_scheme="light")
    page = tab.open("index.html")

    def background() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = background()
    page.click("#theme")
    dark = background()
    assert dark != light and page.inner_text("#theme").strip() == "Light theme"
    page = tab.open("claims/ltb-maps.html")
    assert background() == dark
    first = page.get_attribute(".panel.heat rect", "fill")
    page.click("#theme")
    assert background() == light and page.get_attribute(".panel.heat rect", "fill") != first
    assert not tab.faults, tab.faults


def test_paper_is_light_whatever_the_screen(reader):
    tab = reader(color_scheme="dark")
    page = tab.open("claims/ltb-maps.html")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("#theme")
    assert len(page.pdf()) > 20_000


def test_copy_buttons(reader):
    tab = reader(permissions=["clipboard-read", "clipboard-write"])
    page = tab.open("claims/elsa-plain.html")
    command = "DESCANT_CLAIMS=tests.support.report_claims descant reproduce elsa-plain --out again"
    for name, text in (("command", command), ("citation", PAPERS["elsa"].citation)):
        button = page.locator(f"button[data-copy={name}]")
        button.click()
        playwright.expect(button).to_contain_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == text
        playwright.expect(button).to_contain_text("Copy the")


def test_downloads(reader, report):
    tab = reader()
    page = tab.open("claims/elsa-curves.html")
    links = page.query_selector_all("a[download]")
    assert len(links) == 5
    for link in links:
        original = (report / "claims" / link.get_attribute("href")).resolve()
        if original.suffix == ".csv":
            with page.expect_download() as waiting:
                link.click()
            assert waiting.value.suggested_filename == original.name
            assert Path(waiting.value.path()).read_bytes() == original.read_bytes()
        else:
            # A browser shows a picture on disk, in a tab of its own; from a server it would save it.
            with page.expect_popup() as waiting:
                link.click()
            waiting.value.wait_for_load_state()
            assert waiting.value.url == original.as_uri()
    assert page.url.endswith("elsa-curves.html")


def test_values_are_read_off_and_series_are_hidden(reader):
    tab = reader()
    page = tab.open("claims/guess-flat.html")
    svg = page.locator(".drawn > svg").first
    svg.scroll_into_view_if_needed()
    dot = svg.locator("[aria-label=dot] path, [aria-label=dot] circle").nth(3).bounding_box()
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    tip = svg.locator("[aria-label=tip]")
    playwright.expect(tip).to_contain_text("heads: 4")
    playwright.expect(tip).to_contain_text("least risk: 4.5")
    button = page.locator(".legend button").first
    assert button.get_attribute("aria-pressed") == "true"
    before = svg.locator("path, circle").count()
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator(".drawn > svg").first.locator("path, circle").count() < before
    assert not tab.faults, tab.faults


def test_keyboard_and_rest(reader):
    tab = reader(reduced_motion="reduce")
    page = tab.open("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    page = tab.open("claims/elsa-curves.html")
    # What scrolls can be reached, so that the keyboard can scroll it.
    assert page.evaluate("[...document.querySelectorAll('.box')].every((box) => box.tabIndex === 0)")


def value_of(label: str) -> float:
    """The number that a tick of the page stands for: 0.02, or a power of ten."""
    if label.startswith("10") and label[2:].translate(SUPERSCRIPTS).lstrip("-").isdigit() and label[2:]:
        return 10.0 ** int(label[2:].translate(SUPERSCRIPTS))
    return float(label.replace("−", "-"))


SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_ticks_of_logarithmic_axes_stand_where_they_say(reader, viewport):
    tab, checked = reader(viewport=viewport), 0
    for name in all_pages():
        page = tab.open(name)
        for figure in page.query_selector_all("figure[data-figure]"):
            data = json.loads(page.inner_text(f"#data-{figure.get_attribute('data-figure')}"))
            for panel, svg in zip(data["panels"], figure.query_selector_all(".drawn > svg"), strict=True):
                if panel["kind"] != "plot" or not panel["y"]["log"]:
                    continue
                ticks = svg.eval_on_selector_all(
                    "[aria-label='y-axis tick label'] text",
                    "all => all.map((each) => [each.textContent, each.transform.baseVal.consolidate().matrix.f])",
                )
                heights = [height for _, height in ticks]
                logs = [math.log10(value_of(label)) for label, _ in ticks]
                assert len(ticks) >= 2, (name, ticks)
                fit = np.polynomial.Polynomial.fit(logs, heights, 1)
                np.testing.assert_allclose(heights, fit(np.array(logs)), atol=1.5, err_msg=f"{name}: {ticks}")
                checked += 1
    assert checked >= 2


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_is_drawn_in_a_page_that_is_one_file(browser, tmp_path, scheme):
    places = tuple(float(index + 1) for index in range(12))
    values = tuple(tuple(x * y for x in places) for y in places)
    scales = Axis("x", log=True), Axis("y")
    maps = (
        Map("risk", *scales, places, places, values, Axis("risk", log=True), theory=values, failed=((1, 1),)),
        Map("best", *scales, places, places, tuple((0.0,) * 6 + (1.0,) * 6 for _ in places), Axis("best"), ("a", "b")),
    )
    figure = Figure("map", "A map", "What to see.", maps)
    ready = drawing(figure)
    (tmp_path / "map.html").write_text(figure_page(figure, ready, pictures(ready), {"d": "5"}, "descant plot map"))
    tab = Reader(browser, tmp_path, viewport=PHONE, color_scheme=scheme)
    page = tab.open("map.html")
    page.wait_for_selector(".live svg")
    assert tab.faults == [] and [url for url in tab.asked if not url.startswith("data:")] == [page.url]
    assert page.locator(".panel.map").count() == 2 and page.locator(".panel.map svg rect").count() >= 2 * 144
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    lines = page.locator(".panel.map").first.locator("g[aria-label=line]").count()
    page.get_by_role("button", name="exact theory").click()
    assert page.locator(".panel.map").first.locator("g[aria-label=line]").count() < lines
    tab.context.close()
