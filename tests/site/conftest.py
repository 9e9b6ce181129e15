"""The site, built once: by `make docs` or `make check` before the tests, or here."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.tools import built
from tests.support import ROOT
from tests.support.site_pages import Page


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site of the present sources; the first process that asks builds it, the others wait."""
    pytest.importorskip("mkdocs", reason="mkdocs is in the extra `docs`")
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.is_current():
            # How tests compile programs is not how a page's code is run.
            ours = ("XLA_FLAGS", "JAX_DISABLE_MOST_OPTIMIZATIONS")
            environment = {name: value for name, value in os.environ.items() if name not in ours}
            environment["NO_MKDOCS_2_WARNING"] = "1"
            # Not `python -m mkdocs`: the page of the commands would show that for their name.
            words = [str(Path(sys.executable).with_name("mkdocs")), "build", "--strict"]
            done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-4000:]
            assert built.is_current(), "the sources changed while the site was built from them: run the tests again."
    return built.SITE


@pytest.fixture(scope="session")
def pages(site) -> dict[Path, Page]:
    """Every page of the site, but for those that the report has written, which has tests of its own."""
    own = [path for path in sorted(site.rglob("*.html")) if "report/pages" not in path.as_posix()]
    return {path.resolve(): Page(path.read_text()) for path in own if path.name != "404.html"}
