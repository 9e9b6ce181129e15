"""A claim of a paper that the package doesn't know, from a module outside it, judged and shown like the others."""

import json
import os
import subprocess
import sys

import pytest

from descant.claims import PAPERS, Paper
from descant.claims._paper import known

MODULE = """
from descant.claims import Axis, Evidence, Figure, Lab, Panel, Paper, Series, claim, equal

NOTES = Paper("own-notes", "Own notes", "Sums of squares", "Ada Lovelace, Mary Somerville", 1843{more})


@claim(
    "two-and-two", paper=NOTES, where="page 1", title="Two and two are four", statement="$2 + 2 = 4$.",
    refuted_by="Another sum.", method="Counting.", quick="once", full="once", seconds=0.1,
)
def two_and_two(lab: Lab) -> Evidence:
    panel = Panel("", Axis("summand"), Axis("sum"), (Series("sum", (1, 2), (3, 4)),))
    check = equal("sum", 4.0, 4.0, tolerance=0.0, reason="Counted.")
    return Evidence((check,), (Figure("sums", "Sums", "They grow.", (panel,)),))
"""


def descant(folder, *words: str) -> str:
    environment = {**os.environ, "DESCANT_CLAIMS": "own_claims", "JAX_PLATFORMS": "cpu", "COLUMNS": "120"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-m", "descant", *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("more", "shown", "cited"),
    [
        ("", "Ada Lovelace, Mary Somerville, 1843.", "@misc{lovelace1843,"),
        (
            ", url='https://example.org/notes', venue='Memoirs'",
            '<a href="https://example.org/notes">Memoirs</a>',
            "url =",
        ),
        (
            ", '2402.14951'",
            '<a href="https://arxiv.org/abs/2402.14951">arXiv 2402.14951</a>',
            "archivePrefix = {arXiv}",
        ),
    ],
)
def test_a_fifth_paper_from_outside_the_package(tmp_path, more, shown, cited):
    (tmp_path / "own_claims.py").write_text(MODULE.format(more=more))
    if not more:
        listed = descant(tmp_path, "claims")
        assert listed.index("Linear transformers") < listed.index("Own notes") < listed.index("two-and-two")
        [claim] = json.loads(descant(tmp_path, "claims", "own-notes", "--json"))
        assert (claim["id"], claim["paper"]) == ("two-and-two", "own-notes")
    out = tmp_path / "report"
    printed = descant(tmp_path, "reproduce", "own-notes", "--out", str(out), "--processes", "1")
    assert "Own notes" in printed and "()" not in printed
    assert [each["paper"] for each in json.loads((out / "verdicts.json").read_text())] == ["own-notes"]
    front, page = (out / "index.html").read_text(), (out / "claims" / "two-and-two.html").read_text()
    assert "Five papers say" in front and 'id="paper-own-notes"' in front and "Sums of squares" in front
    assert shown in front and shown.rpartition(", ")[2] in page and cited in page
    assert "author = {Ada Lovelace and Mary Somerville}" in page and "arxiv.org/abs/&" not in page + front
    assert 'href="../index.html#paper-own-notes"' in page
    assert (out / "figures" / "two-and-two" / "sums.png").read_bytes().startswith(b"\x89PNG")


def test_papers_are_known_once(monkeypatch):
    from descant.claims import _paper

    monkeypatch.setattr(_paper, "PAPERS", dict(PAPERS))
    mine = Paper("mine", "Mine", "My title", "A. N. Other", 2026)
    assert known(mine) is mine and known("mine") is mine and known(mine) is mine
    with pytest.raises(ValueError, match="two papers have the id 'mine'"):
        known(Paper("mine", "Mine", "Another title", "A. N. Other", 2026))
    with pytest.raises(ValueError, match=r"paper is 'theirs'; expected one of: elsa, .*, mine; or a Paper"):
        known("theirs")
    with pytest.raises(ValueError, match="id of a paper is 'My paper'"):
        Paper("My paper", "Mine", "", "A. N. Other", 2026)
    with pytest.raises(ValueError, match="url of paper 'x' is 'javascript:"):
        Paper("x", "X", "", "A. N. Other", 2026, url="javascript:alert(1)")
