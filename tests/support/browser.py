"""The browser of the tests that open pages: a fixture, imported by conftest."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


# Not of the session: while it is open there is an event loop, which other tests want to start themselves.
@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no chromium on PATH; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # CI runs as root, where chromium has no sandbox; the pages are our own.
        chromium = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()
