"""Whole files that don't belong where they lie, or are of another version: said in one sentence that names the file."""

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from descant._output import MANIFEST, reserve, written
from descant._sealed import digest, read_page, write_page
from descant._tensors import read as read_tensors, to_bytes
from descant.runs import Run, Store, drive
from tests.support.commands import run as descant
from tests.support.run_folders import contents, opened, under_way
from tests.support.runs_worker import CODE, Toy, complete

OURS, OTHER = Toy(6), Toy(7)
ABSENT = object()


def resealed(path: Path, **changes: Any) -> None:
    """Change fields of a page and seal it, as another program could."""
    value = {**read_page(path), **changes}
    write_page(path, {name: item for name, item in value.items() if item is not ABSENT})


def copied(names: tuple[str, ...], source: Path, target: Path) -> None:
    for name in names:
        shutil.copy(source / name, target / name)


# Another run's files


def test_the_outcome_of_another_run(tmp_path):
    complete(tmp_path / "other", OTHER)
    complete(tmp_path / "done", OURS)
    under_way(tmp_path / "half", OURS, 3)
    for name in ("done", "half"):
        folder = tmp_path / name
        copied(("result.json", "model.safetensors", "metrics.parquet"), tmp_path / "other", folder)
        run = Run(folder)
        for use in (run.model, run.metrics, run.check, partial(getattr, run, "result"), partial(opened, folder, OURS)):
            with pytest.raises(ValueError, match=r"result.json can't be read: it belongs to the run of the key"):
                use()
    assert [each.folder.name for each in Store(tmp_path).broken()] == ["done", "half"]
    with Run(tmp_path / "half").working():
        pass
    (tmp_path / "half" / "result.json").unlink()
    state = Run(tmp_path / "half").checkpoint()
    assert state is not None and state.info["step"] == 3, "the state was given up for another run's result"


def test_the_state_of_another_run(tmp_path):
    under_way(tmp_path / "other", OTHER, 4)
    under_way(tmp_path / "ours", OURS, 3)
    copied(("checkpoint.safetensors", "metrics.jsonl"), tmp_path / "other", tmp_path / "ours")
    run = opened(tmp_path / "ours", OURS)
    for use in (lambda: drive(OURS, run), lambda: run.save(OURS.init()), run.checkpoint, run.metrics):
        with pytest.raises(ValueError, match=r"ours/checkpoint.safetensors can't be read: it belongs to the run of"):
            use()
    assert [each.folder.name for each in Store(tmp_path).broken()] == ["ours"]


def test_the_config_of_another_run(tmp_path):
    complete(tmp_path / "ours", OURS)
    complete(tmp_path / "other", OTHER)
    copied(("config.json",), tmp_path / "other", tmp_path / "ours")
    assert "result.json can't be read: it belongs to" in str(Run(tmp_path / "ours").trouble())
    resealed(tmp_path / "ours" / "config.json", key=Store(code=CODE).key(OURS.config()))
    with pytest.raises(ValueError, match=r"ours/config.json can't be read: it belongs to the run of the key"):
        Run(tmp_path / "ours")


# Whole, and malformed

CONFIGS = [{"key": ABSENT}, {"key": 5}, {"code": None}, {"config": 5}, {"config": None}, {"environment": []}]
RESULTS = [
    {"files": []}, {"files": None}, {"files": ABSENT}, {"result": [1]}, {"result": ABSENT}, {"key": ABSENT},
    {"files": {"../x.json": ""}}, {"files": {}}, {"files": {"a\0.json": ""}}, {"files": {"notes.txt": ""}},
]  # fmt: skip


def test_pages_of_another_version(tmp_path, capsys):
    complete(tmp_path / "fine", OURS)
    broken = {}
    for name, changes in (("config.json", CONFIGS), ("result.json", RESULTS)):
        for number, change in enumerate(changes):
            folder = tmp_path / f"{name}-{number}"
            shutil.copytree(tmp_path / "fine", folder)
            resealed(folder / name, **change)
            broken[folder] = name
            with pytest.raises(ValueError) as said:
                opened(folder, OURS)
            assert str(folder) in str(said.value) and "\n" not in str(said.value)
    store = Store(tmp_path, code=CODE)
    assert {each.folder for each in store.broken()} == set(broken)
    assert all(str(each.folder) in each.reason for each in store.broken())
    assert store.open(OURS.config()).name  # found in spite of them
    for flags in ((), ("--json",)):
        status, out, err = descant("runs", "--root", str(tmp_path), *flags, capsys=capsys)
        assert status == 0 and err == "" and "fine" in out and all(folder.name in out for folder in broken)


NOTES = [
    {"key": 1}, {"names": 5}, {"names": ["x"]}, {"names": [["x"], "sum"]}, {"info": []}, {"metrics": None},
    {"metrics": {}}, {"metrics": {"rows": 1, "size": 10**30, "chain": ""}}, {"format": "descant-checkpoint-2"},
]  # fmt: skip


def test_checkpoints_of_another_version(tmp_path):
    run = under_way(tmp_path / "a", OURS, 3)
    path = run.folder / "checkpoint.safetensors"
    arrays, note = read_tensors(path, "")
    for change in NOTES:
        path.write_bytes(to_bytes(arrays, {**note, **change}))
        with pytest.raises(ValueError, match=r"a/(checkpoint.safetensors|metrics.jsonl) "):
            drive(OURS, run)
        assert run.trouble() is not None


@pytest.mark.parametrize("names", [5, None, ABSENT, {}, [1, "a"], [["a"]]])
def test_a_list_of_what_was_written(tmp_path, names):
    reserve(tmp_path, ["index.html"])
    resealed(tmp_path / MANIFEST, names=names)
    for use in (lambda: written(tmp_path), lambda: reserve(tmp_path, ["index.html"], force=True)):
        with pytest.raises(ValueError, match=rf"{MANIFEST} can't be read: .*; delete it, and use --force once"):
            use()


def test_a_result_can_not_have_a_users_file_deleted(tmp_path):
    for name, content in (("notes.txt", b"mine"), ("notes.json", b"mine"), ("../outside.json", b"mine")):
        folder = tmp_path / "a" / "run"
        complete(folder, OURS)
        (folder / name).write_bytes(content)
        files = read_page(folder / "result.json")["files"]
        # A name that a run may have counts if the file is what the run wrote; others don't count at all.
        listed = digest(b"ours" if name == "notes.json" else content)
        resealed(folder / "result.json", files={**files, name: listed})
        Run(folder).restart()
        assert (folder / name).read_bytes() == content
        assert not (folder / "result.json").exists() and not (folder / "model.safetensors").exists()


def test_a_result_without_a_model(tmp_path):
    complete(tmp_path / "a", OURS)
    files = read_page(tmp_path / "a" / "result.json")["files"]
    resealed(tmp_path / "a" / "result.json", files={"metrics.parquet": files["metrics.parquet"]})
    assert "model.safetensors is missing, or is not the file" in str(Run(tmp_path / "a").trouble())


# Who uses a result looks at the files beside it

TRAIN = ("train", "lsa", "--d", "2", "--n", "4", "--noise", "0", "--samples", "16")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("trained")
    from descant.cli import main

    for seed in ("0", "1"):
        with pytest.raises(SystemExit) as stop:
            main([*TRAIN, "--seed", seed, "--out", str(root / seed), "--json"])
        assert not stop.value.code
    return root


def test_commands_look_at_the_files_of_a_finished_run(trained, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DESCANT_RUNS", str(tmp_path / "runs"))
    root = tmp_path / "runs"
    shutil.copytree(trained, root)
    commands = (
        (*TRAIN, "--out", str(root / "0")),
        TRAIN,  # found by its key
        ("eval", str(root / "0"), "--samples", "16"),
        ("eval", "0", "--samples", "16"),
        ("runs", "compare", "0", "1"),
        ("runs", "compare", "1", "0", "--json"),
    )
    for command in commands:
        assert descant(*command, capsys=capsys)[0] == 0
    before = contents(root / "0")
    for name in ("model.safetensors", "metrics.parquet"):
        path, whole = root / "0" / name, before[name]
        for spoilt in (whole[:-1] + bytes([whole[-1] ^ 1]), b"", None):
            path.unlink() if spoilt is None else path.write_bytes(spoilt)
            for command in commands:
                status, out, err = descant(*command, capsys=capsys)
                assert status == 2 and out == "" and err.count("\n") == 1 and str(path) in err, (command, err)
            path.write_bytes(whole)
    copied(("result.json", "model.safetensors", "metrics.parquet"), root / "1", root / "0")
    for command in commands:
        status, out, err = descant(*command, capsys=capsys)
        assert status == 2 and out == "" and "result.json can't be read: it belongs to the run of the key" in err
    assert descant(*TRAIN, "--out", str(root / "0"), "--no-resume", capsys=capsys)[0] == 0
    assert contents(root / "0") == before


# Folders that can't be read


def test_folders_that_can_not_be_read(tmp_path, monkeypatch, capsys):
    complete(tmp_path / "fine", OURS)
    (tmp_path / "closed").mkdir()
    is_dir = Path.is_dir

    def refused(path):  # the superuser is refused nothing, and tests may be run by him
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return is_dir(path)

    monkeypatch.setattr(Path, "is_dir", refused)
    status, out, err = descant("runs", "--root", str(tmp_path), capsys=capsys)
    assert status == 0 and err == "" and "fine" in out
    assert f"Not a run: {tmp_path / 'closed'} (" in out and "Permission denied" in out
    assert Store(tmp_path, code=CODE).open(OURS.config()).name == "fine"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux has /proc")
def test_a_folder_full_of_what_is_none(capsys):
    status, out, err = descant("runs", "--root", "/proc/1", capsys=capsys)
    assert status == 0 and err == "" and "There are no runs in /proc/1" in out


def test_a_file_is_no_folder_of_runs(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    for command in (("runs",), ("runs", "compare", "a", "b"), ("runs", "delete", "a")):
        status, out, err = descant(*command, "--root", str(tmp_path / "file"), capsys=capsys)
        assert status == 2 and out == "" and err.count("\n") == 1
        assert f"root is {tmp_path / 'file'}, which can't be read: Not a directory; expected a folder" in err
