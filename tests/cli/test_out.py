"""What commands are asked to write: nothing that isn't theirs is lost, and what can't be written is said at once."""

import numpy as np
import pytest

from descant._output import MANIFEST, reserve, written
from descant.claims import all_claims
from descant.report import NAMES
from tests.support.commands import run


def below(folder) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


FOREIGN = [
    (("reproduce", "elsa-property-1"), "index.html"),
    (("reproduce", "elsa-property-1"), "assets/mine.css"),
    (("reproduce", "elsa-property-1"), "evidence/mine.json"),
    (("crosscheck",), "risks.csv"),
    (("crosscheck",), "rows/mine.json"),
    (("table1", "--quick"), "table1/mine.json"),
    (("compile", "power", "--set", "n=2", "k=1"), "program.json"),
    (("compile", "power", "--set", "n=2", "k=1"), "network.safetensors"),
    (("compile", "power", "--set", "n=2", "k=1", "--explain"), "explain.html"),
]


@pytest.mark.parametrize(("command", "name"), FOREIGN, ids=[f"{command[0]} {name}" for command, name in FOREIGN])
def test_what_is_not_ours_is_not_written_over(command, name, tmp_path, capsys):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    status, out, err = run(*command, "--out", str(tmp_path), capsys=capsys)
    top = name.partition("/")[0]
    assert status == 2 and out == "" and err.count("\n") == 1
    assert f"holds '{top}', and Descant did not write that; choose another folder, or write over it with --force" in err
    assert below(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("command", [("reproduce", "elsa-property-1"), ("crosscheck",), ("table1",)])
@pytest.mark.parametrize("where", ["file", "file/below"])
def test_a_file_for_a_folder_is_said_at_once(command, where, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("mine")
    status, out, err = run(*command, "--out", str(tmp_path / where), capsys=capsys)
    assert status == 2 and out == "" and "a part of that path is a file; expected folders only" in err
    assert below(tmp_path) == {"file": b"mine"}


def test_a_program_is_written_again_over_itself_only(tmp_path, capsys):
    command = ("compile", "power", "--set", "n=2", "k=1", "--out", str(tmp_path))
    (tmp_path / "notes.txt").write_text("mine")
    assert run(*command, capsys=capsys)[0] == 0
    (tmp_path / "explain.txt").write_text("mine")
    assert run(*command, capsys=capsys)[0] == 0
    before = below(tmp_path)
    status, _, err = run(*command, "--explain", capsys=capsys)
    assert status == 2 and "holds 'explain.txt'" in err and below(tmp_path) == before
    assert run(*command, "--explain", "--force", capsys=capsys)[0] == 0
    after = below(tmp_path)
    assert after["explain.txt"] != b"mine" and after["notes.txt"] == b"mine"
    assert run(*command, "--explain", capsys=capsys)[0] == 0
    (tmp_path / MANIFEST).write_text("[]")
    status, _, err = run(*command, capsys=capsys)
    assert status == 2 and f"{MANIFEST} can't be read" in err and "delete it, and use --force once" in err


def test_results_of_a_program_replace_nothing(tmp_path, capsys):
    run("compile", "power", "--set", "n=2", "k=1", "--out", str(tmp_path / "power"), capsys=capsys)
    np.savez(tmp_path / "data.npz", A=np.eye(2), V=np.ones((2, 1)))
    command = ("run", str(tmp_path / "power"), "--inputs", str(tmp_path / "data.npz"), "--out")
    (tmp_path / "link.npz").symlink_to(tmp_path / "nowhere.npz")
    before = below(tmp_path)
    for out in ("data.npz", "power/program.json", "link.npz"):
        status, _, err = run(*command, str(tmp_path / out), capsys=capsys)
        assert status == 2 and "which is there already; choose another name, or write over it with --force" in err
    status, _, err = run(*command, str(tmp_path / "power"), "--force", capsys=capsys)
    assert status == 2 and "which is there already; choose another name." in err
    status, _, err = run(*command, str(tmp_path / "data.npz" / "below.npz"), capsys=capsys)
    assert status == 2 and "a part of that path is a file" in err
    assert below(tmp_path) == before
    assert run(*command, str(tmp_path / "new" / "result.npz"), capsys=capsys)[0] == 0
    assert run(*command, str(tmp_path / "data.npz"), "--force", capsys=capsys)[0] == 0


def test_another_run_in_the_folder_of_a_training(tmp_path, capsys):
    from tests.support.runs_worker import Toy, complete

    complete(tmp_path / "a", Toy(3))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("mine")
    before = below(tmp_path)
    for name, sentence in (("a", "holds another run"), ("b", "holds 'thesis.tex' but no run")):
        arguments = ("train", "lsa", "--d", "2", "--n", "3", "--out", str(tmp_path / name), "--no-resume")
        status, _, err = run(*arguments, capsys=capsys)
        assert status == 2 and sentence in err and below(tmp_path) == before


def test_the_evidence_of_one_claim_proves_no_other(tmp_path):
    from descant.claims._judgement import judge, judgement_path, kept

    claims = {id: all_claims()[id] for id in ("elsa-property-2", "elsa-property-3")}
    mine, others = (judgement_path(tmp_path, claim, "quick", 0) for claim in claims.values())
    assert judge(claims["elsa-property-2"], tmp_path).verdict == "holds"
    others.parent.mkdir(parents=True)
    others.write_bytes(mine.read_bytes())
    with pytest.raises(ValueError, match="no judgement of elsa-property-3: elsa-property-2, quick"):
        kept(tmp_path, claims)
    elsewhere = judgement_path(tmp_path, claims["elsa-property-2"], "quick", 1)
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_bytes(mine.read_bytes())
    with pytest.raises(ValueError, match="seed 0 is not what belongs here"):
        judge(claims["elsa-property-2"], tmp_path, seed=1)


def test_damaged_evidence_is_named_at_once(tmp_path, monkeypatch, capsys):
    from descant.claims import Lab
    from descant.claims._judgement import judgement_path

    claims = all_claims()
    other, asked = claims["elsa-property-1"], claims["elsa-property-4"]
    reserve(tmp_path, NAMES)
    part = judgement_path(tmp_path, asked, "quick", 0).parent / "parts" / "some.json"
    Lab(part.parent.parent, tmp_path / "runs").keep("some", lambda: 1)
    for path in (judgement_path(tmp_path, other, "quick", 0), part):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes() if path.exists() else b""
        path.write_bytes(whole[:-9])
        status, out, err = run("reproduce", asked.id, "--out", str(tmp_path), capsys=capsys)
        assert (
            status == 2
            and out.strip() == ""
            and f"{path} can't be read: " in err
            and "; delete it, and the same" in err
        )
        path.unlink()
    assert not (tmp_path / "index.html").exists() and "evidence" in written(tmp_path)
