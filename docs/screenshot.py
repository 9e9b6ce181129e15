"""The top of a page as a picture: `python docs/screenshot.py report/index.html docs/assets/report.png`.

Or that of a server: `python docs/screenshot.py http://127.0.0.1:8765/ask docs/assets/explorer.png`.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1180, "height": 1160}


def main() -> None:
    """Photograph the top of the page."""
    source, target = sys.argv[1:3]
    address = source if source.startswith("http://") else Path(source).resolve().as_uri()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main()
