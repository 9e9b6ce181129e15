"""Names that would leave their folder: whether a user, a file or a claim gives them, nothing is written outside."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from descant._disk import write_at, write_whole
from descant._lock import locked
from descant._names import LONGEST, file_name, slug
from descant._sealed import read_page, write_page
from descant.claims import Figure, Lab, Table, claim
from descant.llm import find_template
from descant.report._pages import by_stem
from descant.runs import Store
from tests.support.commands import run
from tests.support.report_claims import judgements

EVIL = [
    *("", ".", "..", "../evil", "../../../evil", "/etc/passwd", "a/b", "a\\b", "C:evil", "~", "-rf", ".hidden", "a."),
    *("a b", "a\nb", "a\0b", "a\x1b[31m", "a\u202eb", "a\u2028b", "\ud800", "*", "a?", "a|b", "$(x)", "a;b", "a:b"),
    *("nul", "CON", "com1.txt", "x" * (LONGEST + 1), "é" * LONGEST),
]
TEMPLATE = """
[{name}]
head = ""
pair = "{{first}} {{second}} "
guess = "guess {{guess}} "
score = "score "
end = "."
digits = 1
chat = "Rate."
"""


@pytest.mark.parametrize("name", EVIL)
def test_names_that_are_refused_and_what_is_made_of_them(name):
    with pytest.raises(ValueError, match=r"what it is is .*, which names files; expected") as caught:
        file_name("what it is", name)
    assert str(caught.value).isprintable()
    assert file_name("slug", slug(name)) == slug(name)


@pytest.mark.parametrize("name", ["terse", "a", "_", "gap-1.5", "v2.0_final", "η", "x1", "Naïve", "x" * LONGEST])
def test_names_that_are_taken(name):
    assert file_name("name", name) == name


def untouched(folder):
    """Whether there is nothing but what a test made: its names begin with `my`."""
    return [path.name for path in folder.iterdir() if not path.name.startswith("my")]


@pytest.mark.parametrize("name", ["../../../evil", "/tmp/evil", "a/b", "..", ".hidden", ""])
def test_a_template_of_that_name(tmp_path, capsys, name):
    (tmp_path / "my").mkdir()
    file = tmp_path / "my" / "own.toml"
    file.write_text(TEMPLATE.format(name=json.dumps(name)))
    find_template.cache_clear()
    arguments = ("--data", str(tmp_path / "my"), "--template", str(file), "--out", str(tmp_path / "out" / "deep"))
    for each in ("train", "test"):
        (tmp_path / "my" / f"stsb-en-{each}.csv").write_text("A man.,A dog.,1.5\n" * 5)
    status, _, err = run("llm", "sts", *arguments, "--queries", "1", "--shots", "1", capsys=capsys)
    assert status == 2
    assert f"name of a template is {name!r}, which names files" in err
    assert untouched(tmp_path) == []


def test_claims_judgements_and_parts_of_that_name(tmp_path):
    with pytest.raises(ValueError, match=r"id of a claim is '\.\./\.\./evil', which names files"):
        claim(
            "../../evil",
            paper="elsa",
            where="",
            title="",
            statement="",
            refuted_by="",
            method="",
            quick="",
            full="",
            seconds=1,
        )
    judgement = next(iter(judgements().values()))
    with pytest.raises(ValueError, match=r"id of a judgement is '\.\./\.\./evil', which names files"):
        replace(judgement, id="../../evil")
    lab = Lab(tmp_path / "my" / "claim", tmp_path / "my" / "runs")
    names = ["../../../evil", "a/b", "a b", "a-b", "d = 4, n = 7 (Figure 1)", "..", "\0", "x" * 300, "uniform:1", "A B"]
    assert [lab.keep(name, lambda name=name: name) for name in names] == names
    assert [lab.keep(name, lambda: "again") for name in names] == names  # each has a file of its own
    assert len(list((tmp_path / "my" / "claim" / "parts").iterdir())) == len(names)
    assert untouched(tmp_path) == []


def test_figures_and_tables_of_that_name():
    items = [Table(name, "", (), ()) for name in EVIL] + [Figure(name, "", "", ()) for name in EVIL]
    stems = by_stem(items)
    assert len(stems) == len(items)
    assert all(file_name("stem", stem) == stem and "." not in stem for stem in stems)


@pytest.mark.parametrize("name", ["..", "../..", ".", "/", "../my-runs/toy", "toy/../../my-other"])
def test_runs_of_that_name_are_not_found_and_nothing_is_deleted(tmp_path, capsys, monkeypatch, name):
    for folder in (tmp_path / "my-runs" / "toy", tmp_path / "my-other"):
        Store(folder.parent, code="1").open({"model": "toy"}, folder)
    monkeypatch.setenv("DESCANT_RUNS", str(tmp_path / "my-runs"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="has no run of that name"):
        Store().get(name)
    for arguments in (("delete", name, "--yes"), ("compare", name, "toy")):
        status, _, err = run("runs", *arguments, capsys=capsys)
        assert status == 2 and "has no run of that name" in err
    assert sorted(tmp_path.rglob("*")) == before


PROGRAM = """
def mine(X: "n d"):
    file = X + X
    allow_pickle = X - X
    self = 2 * X
    aux = 3 * X
    return file, allow_pickle, self, aux
"""


def test_outputs_of_a_program(tmp_path, capsys):
    """Names that numpy.savez takes for arguments are fine, and Windows for devices; one that leads out is not."""
    (tmp_path / "my.py").write_text(PROGRAM)
    x = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "my.npz", X=x)
    folder, out = tmp_path / "my-compiled", tmp_path / "my-result.npz"
    status, _, err = run("compile", str(tmp_path / "my.py"), "--set", "n=2", "d=3", "--out", str(folder), capsys=capsys)
    assert status == 0, err
    arguments = ("run", str(folder), "--inputs", str(tmp_path / "my.npz"), "--out", str(out))
    status, _, err = run(*arguments, capsys=capsys)
    assert status == 0, err
    with np.load(out, allow_pickle=False) as found:
        assert {name: value.tolist() for name, value in found.items()} == {
            "aux": (3 * x).tolist(),
            "file": (2 * x).tolist(),
            "allow_pickle": (0 * x).tolist(),
            "self": (2 * x).tolist(),
        }
    out.unlink()
    # By whoever can compute a checksum.
    described = read_page(folder / "program.json")
    described["outputs"][0]["name"] = "../../evil"
    write_page(folder / "program.json", described)
    status, _, err = run(*arguments, capsys=capsys)
    assert status == 2 and "output is '../../evil', which names files" in err
    assert not out.exists() and untouched(tmp_path) == []


def test_links_are_replaced_or_refused_but_never_written_through(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "index.html").symlink_to(mine)
    write_whole(folder / "index.html", "a page")
    assert not (folder / "index.html").is_symlink() and (folder / "index.html").read_text() == "a page"
    (folder / "answers.jsonl").symlink_to(mine)
    with pytest.raises(OSError, match=r"answers\.jsonl is a link, which is not written through"):
        write_at(folder / "answers.jsonl", 0, b"answers")
    (folder / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"\.lock is a link, which is not written through"), locked(folder):
        pass
    assert mine.read_text() == "mine"
    assert os.listdir(tmp_path) == [each for each in os.listdir(tmp_path) if each in ("mine.txt", "report")]
