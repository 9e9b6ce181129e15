"""A claim of a paper that the package doesn't know, from a module outside it, judged and shown like the others."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from descant.claims import PAPERS, Paper, find
from descant.claims._paper import known

EXAMPLE = (Path(__file__).resolve().parents[2] / "examples" / "fifth_paper.py").read_text()
# The same claim without its computing.
MEASURED = 'risk(best(name, task), task, "exact").value'
GIVEN = EXAMPLE.replace(MEASURED, '{"gd": 2.0, "gd-beta": 1.0}[name]')


def descant(folder, *words: str) -> str:
    environment = {**os.environ, "DESCANT_CLAIMS": "fifth_paper", "JAX_PLATFORMS": "cpu", "COLUMNS": "120"}
    # As a console script: the present folder is not on the path by itself.
    command = [sys.executable, "-P", "-m", "descant", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
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
    assert MEASURED in EXAMPLE and "1843)" in EXAMPLE and len(EXAMPLE.splitlines()) <= 40
    (tmp_path / "fifth_paper.py").write_text(GIVEN.replace("1843)", f"1843{more})") if more else EXAMPLE)
    if not more:
        listed = descant(tmp_path, "claims")
        assert listed.index("Linear transformers") < listed.index("Own notes") < listed.index("sparse-start")
        [claim] = json.loads(descant(tmp_path, "claims", "own-notes", "--json"))["claims"]
        assert (claim["id"], claim["paper"]) == ("sparse-start", "own-notes")
    out = tmp_path / "report"
    printed = descant(tmp_path, "reproduce", "sparse-start", "--out", str(out), "--processes", "1")
    assert "holds" in printed and "Own notes" in printed and "()" not in printed
    assert [each["paper"] for each in json.loads((out / "verdicts.json").read_text())] == ["own-notes"]
    front, page = (out / "index.html").read_text(), (out / "claims" / "sparse-start.html").read_text()
    # Without those that other tests have brought along in this process.
    package = [each for each in find().values() if each.experiment.__module__.startswith("descant.")]
    own = sum(each.whose != "paper" for each in package)
    # Its claim joins the papers'; ours are counted apart.
    assert f"{len(package) - own + 1} statements of theirs are judged" in front
    assert f"{own} statements beside theirs are ours" in front
    assert "Five papers say" in front and 'id="paper-own-notes"' in front and "Notes on sparse tasks" in front
    assert shown in front and shown.rpartition(", ")[2] in page and cited in page
    assert "author = {Ada Lovelace and Mary Somerville}" in page and "arxiv.org/abs/&" not in page + front
    assert 'href="../index.html#paper-own-notes"' in page
    assert (out / "figures" / "sparse-start" / "sparse.png").read_bytes().startswith(b"\x89PNG")


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
