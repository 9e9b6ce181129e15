"""The front page of a report as a picture: `python docs/screenshot.py report/index.html docs/assets/report.png`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1180, "height": 1160}


def main() -> None:
    """Photograph the top of the page."""
    source, target = map(Path, sys.argv[1:3])
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(source.resolve().as_uri())
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main()
