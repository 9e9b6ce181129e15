"""Disks that are full, folders that are read-only: a clear error, and nothing is lost."""

import contextlib
import errno
import os
import resource
import subprocess

import pytest

from descant.runs import Store, drive, query
from tests.support.run_folders import contents, finished, opened, under_way
from tests.support.runs_worker import CODE, Toy, complete


@contextlib.contextmanager
def files_limited_to(size: int):
    """The kernel refuses to let any file of this process grow beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 1000, 2000])
def test_no_room_while_training(tmp_path, size):
    """Whichever file it is that no longer fits, nothing saved is lost, and it goes on when there is room."""
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = under_way(tmp_path / "a", toy, 4)
    with (
        files_limited_to(size),
        pytest.raises(OSError, match=r"can't be written: File too large; .* make room, then") as said,
    ):
        drive(toy, run, every=0.0)
    assert said.value.errno == errno.EFBIG and str(run.folder) in str(said.value) and "Errno" not in str(said.value)
    state = run.checkpoint()
    assert state is not None and state.info["step"] >= 4
    assert run.metrics()["step"].to_pylist()[-1] == state.info["step"]
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_no_room_for_the_outcome(tmp_path):
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = opened(tmp_path / "a", toy)
    state = drive(toy, run)
    for size in (0, 300, 2000):
        with files_limited_to(size), pytest.raises(OSError, match="make room"):
            run.finish(toy.model(state), toy.result(state))
        assert not run.finished and run.metrics().num_rows == 72
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_no_room_to_begin(tmp_path):
    with files_limited_to(10), pytest.raises(OSError, match=r"config.json can't be written: File too large"):
        opened(tmp_path / "a", Toy(3))
    complete(tmp_path / "a", Toy(3))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB of its own. Only root may mount one; the limits on files above are tested everywhere."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a disk can't be mounted here; full disks are tested with limits on files instead")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(tmp_path, small_disk):
    toy = Toy(60)
    whole = finished(tmp_path / "whole", toy)
    run = under_way(small_disk / "a", toy, 4)
    fill = small_disk / "fill"
    with fill.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(512))
    before = contents(run.folder)
    with pytest.raises(OSError, match=r"No space left on device; .* make room") as said:
        drive(toy, run, every=0.0)
    assert said.value.errno == errno.ENOSPC
    after = contents(run.folder)
    assert after["checkpoint.safetensors"] == before["checkpoint.safetensors"] and sorted(after) == sorted(before)
    fill.unlink()
    complete(run.folder, toy)
    assert contents(run.folder) == whole


def test_a_read_only_folder(small_disk):
    toy = Toy(30)
    run = under_way(small_disk / "a", toy, 4)
    before = contents(run.folder)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for work in (lambda: drive(toy, run), lambda: run.save(toy.init()), lambda: opened(small_disk / "b", toy)):
        with pytest.raises(OSError, match=r"can't be written: Read-only file system; .* choose another folder") as said:
            work()
        assert said.value.errno == errno.EROFS and "Errno" not in str(said.value)
    assert contents(run.folder) == before and run.metrics().num_rows > 0
    assert query("SELECT count(*) AS rows FROM metrics", small_disk).to_pylist()[0]["rows"] == run.metrics().num_rows
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; for root there is the test above")
def test_a_folder_that_may_not_be_written(tmp_path):
    toy = Toy(30)
    run = under_way(tmp_path / "a", toy, 4)
    run.folder.chmod(0o555)
    with pytest.raises(OSError, match=r"can't be written: Permission denied; .* choose another folder"):
        drive(toy, run)
    run.folder.chmod(0o755)
    assert run.metrics().num_rows > 0


def test_a_folder_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"root is .*file, which can't be read: Not a directory; expected a folder"):
        Store(tmp_path / "file", code=CODE).open({"a": 1})
    with pytest.raises(OSError, match="a part of that path is a file"):
        Store(tmp_path, code=CODE).open({"a": 1}, tmp_path / "file")
