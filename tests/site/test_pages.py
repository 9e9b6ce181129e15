"""The site, page by page: what should be typeset is, links lead somewhere, every public name has an entry."""

import re

import pytest

from tests.support import ROOT
from tests.support.public_names import ENTRY, public_names, rooms, without_entry
from tests.support.site_pages import dead_links, quoted_examples, unrendered_latex

DOCS = ROOT / "docs"
REFERENCE = "\n\n".join(path.read_text() for path in sorted((DOCS / "reference").glob("*.md")))
CHAPTERS = sorted(path.stem for path in (DOCS / "tutorial").glob("*.md") if path.stem != "index")


def test_every_public_name_has_an_entry():
    found = rooms(ROOT / "src" / "descant")
    assert len(found) > 30 and sum(map(len, found.values())) > 600
    assert without_entry(found, REFERENCE) == []
    # What `descant` itself has is what its rooms have.
    last = {path.rpartition(".")[2] for path in ENTRY.findall(REFERENCE)}
    assert public_names((ROOT / "src" / "descant" / "__init__.py").read_text()) - last == set()


def test_every_test_that_a_page_names_is_there():
    named = set()
    for page in sorted(DOCS.rglob("*.md")):
        named |= set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text()))
    gone = [f"{path}::{name}" for path, name in sorted(named) if f"def {name}(" not in (ROOT / path).read_text()]
    assert len(named) > 40 and gone == []


def test_every_formula_of_the_theory_has_a_function_and_a_test_beside_it():
    """Section by section: whoever reads a formula finds what computes it, and what would find it wrong."""
    lacking, named = [], "theory|forms|tasks|attention|training|readout|programs"
    for page in sorted((DOCS / "theory").glob("*.md")):
        for section in re.split(r"^(?=##? )", page.read_text(), flags=re.MULTILINE):
            function = re.search(rf"`({named})\.\w|descant reproduce", section)
            if "$$" in section and not (function and "`tests/" in section):
                lacking.append(f"{page.name}: {section.splitlines()[0]}")
    assert lacking == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_ends_with_a_figure_that_its_code_made(chapter):
    text = (DOCS / "tutorial" / f"{chapter}.md").read_text()
    assert text.startswith("---\nrun: true\n---\n")
    *_, picture = re.findall(r"^!\[.+\]\((\S+)\)$", text, re.MULTILINE)
    *_, code = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert f'"{picture}"' in code and text.index(f"]({picture})") > text.index(code)


def test_comments_beside_commands_fit_on_a_desk():
    """Lines wrap, but a column of comments that wraps is no column any more."""
    wide = []
    for page in sorted(DOCS.rglob("*.md")):
        for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            wide += [f"{page.name}: {line}" for line in block.splitlines() if "  # " in line and len(line) > 84]
    assert wide == []


def test_the_first_result_takes_six_lines():
    text = (DOCS / "index.md").read_text()
    install, code = re.findall(r"^```(?:console|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:2]
    assert sum(1 for line in (install + code).splitlines() if line.strip()) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("fault", [unrendered_latex, quoted_examples])
def test_words_of_pages(pages, fault):
    assert len(pages) > 60
    assert {str(path): found for path, page in pages.items() if (found := fault(page))} == {}


@pytest.mark.slow
def test_links(site, pages):
    anchors = {path: page.anchors for path, page in pages.items()}
    dead = {str(path): found for path, page in pages.items() if (found := [*dead_links(page, path, site, anchors)])}
    assert dead == {}


@pytest.mark.slow
def test_commands_are_shown_as_they_are_typed(site):
    text = re.sub("<[^>]*>", "", (site / "commands" / "index.html").read_text())
    assert "\ndescant risk --d INT --n INT [OPTIONS] NAME\n" in text
    # Of what is off or empty there is nothing to say, in groups of commands neither.
    assert "default: False" not in text and "default: ()" not in text and "--empty-" not in text


@pytest.mark.slow
def test_entries_are_shown_with_their_words(site):
    """Every entry has its heading, and says what it is: an entry without a docstring would be a bare name."""
    html = "".join(path.read_text() for path in (site / "reference").rglob("*.html"))
    bare = []
    for name in ENTRY.findall(REFERENCE):
        found = re.search(
            rf'<h3 id="{re.escape(name)}".*?<div class="doc doc-contents ?\w*">(.*?)</div>', html, re.DOTALL
        )
        words = re.sub(r"<div class=.doc-signature.*|<[^>]*>", "", found[1]) if found else ""
        if len(words.split()) < 2:
            bare.append(name)
    assert bare == []
