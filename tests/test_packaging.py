"""What a release and a citation say; the wheel itself is tried by `scripts/check_wheel.py`, a step of its own."""

import importlib.util
import subprocess
import sys
import tomllib

import pytest
import yaml

from descant.claims import PAPERS
from tests.support import ROOT


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEXTS = {
    "pyproject.toml": '[project]\nname = "descant"\nversion = "0.1.0"\n',
    "CITATION.cff": "title: Descant\nversion: 0.1.0\nreferences:\n  - type: article\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- News.\n",
}


def test_the_citation_names_the_papers_as_the_claims_do():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    known = {paper.address: paper for paper in PAPERS.values() if paper.arxiv}
    assert {each["url"] for each in cited["references"]} >= set(known)
    for each in cited["references"]:
        paper = known[each["url"]]
        authors = ", ".join(f"{author['given-names']} {author['family-names']}" for author in each["authors"])
        assert (each["title"], authors, each["year"]) == (paper.title, paper.authors, paper.year)


def test_the_page_on_citation_has_the_entries_of_the_claims():
    entries = (ROOT / "docs" / "assets" / "descant.bib").read_text()
    assert all(paper.citation in entries for paper in PAPERS.values() if paper.arxiv)


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == project["version"]


def test_a_release_changes_three_files():
    after = script("release").changed(TEXTS, "0.2.0", "2026-12-01")
    assert 'version = "0.2.0"' in after["pyproject.toml"]
    assert yaml.safe_load(after["CITATION.cff"])["version"] == "0.2.0"
    assert "## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- News.\n" in after["CHANGELOG.md"]
    with pytest.raises(SystemExit, match="nothing under"):
        script("release").changed(after, "0.3.0", "2026-12-02")


@pytest.mark.parametrize(
    "version, sentence", [("0.0.9", "before 0.1.0"), ("1.0", "three numbers"), ("v1.0.0", "three")]
)
def test_versions_that_are_refused(version, sentence):
    with pytest.raises(SystemExit, match=sentence):
        script("release").changed(TEXTS, version, "2026-12-01")


def test_a_dry_run_changes_nothing():
    before = {path: path.read_bytes() for path in (ROOT / name for name in TEXTS)}
    words = [sys.executable, str(ROOT / "scripts" / "release.py"), "99.0.0", "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:  # the commit of a release has no news yet, and its tests are to pass
        assert "nothing under [Unreleased]" in done.stderr
    else:
        assert '+version = "99.0.0"' in done.stdout and "+## [99.0.0]" in done.stdout and "v99.0.0" in done.stdout
    assert {path: path.read_bytes() for path in before} == before
