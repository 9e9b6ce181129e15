"""Arrays for `descant run`: files that are damaged, or lie about what they hold, get a sentence and take no memory."""

import struct
import zipfile

import numpy as np
import pytest

from descant.cli._arrays import read_arrays

PLAIN = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def packed(path, header, names=("X",), method=zipfile.ZIP_STORED):
    """An archive of arrays of one number whose headers are this text."""
    text = header.encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        for name in names:
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(8))
    return path


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("-" * 9000 + "1", "the header of X.npy can't be read"),
        ("(" * 9000 + "1", "the header of X.npy can't be read"),
        (PLAIN.replace("(1, 1)", "-" * 8000 + "1"), "the header of X.npy can't be read"),
        (PLAIN.replace("'<f8'", "()"), "the header of X.npy can't be read"),
        (PLAIN.replace("'<f8'", "'(2,'"), "the header of X.npy can't be read"),
        (PLAIN.replace("'<f8'", "[('a',)]"), "the header of X.npy can't be read"),
        (PLAIN.replace("'<f8'", "'O'"), "Python objects"),
        (PLAIN.replace("(1, 1)", "(True, 1)"), r"claims the shape \(True, 1\)"),
        (PLAIN.replace("(1, 1)", "(-1, 1)"), r"claims the shape \(-1, 1\)"),
        (PLAIN.replace("(1, 1)", "(10000000, 10000000)"), "would take 1.6 PB of memory"),
        (PLAIN.replace("(1, 1)", "(1, 2)"), "claims 16 bytes"),
        (PLAIN.replace("(1, 1)", "()").replace("<f8", "<f4"), "claims 4 bytes"),
    ],
)
def test_headers_that_lie(header, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        read_arrays(packed(tmp_path / "a.npz", header))


def test_a_name_that_is_there_twice(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = packed(tmp_path / "a.npz", PLAIN, ("X", "Y", "X"))
    with pytest.raises(ValueError, match="it has X twice"):
        read_arrays(path)


def test_one_array_without_a_name(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((1, 1)))
    with pytest.raises(ValueError, match=r"one array without a name; write it with numpy\.savez"):
        read_arrays(tmp_path / "a.npy")


@pytest.mark.parametrize("method", METHODS)
def test_damaged_files(method, tmp_path):
    good = packed(tmp_path / "a.npz", PLAIN, method=method).read_bytes()
    assert read_arrays(tmp_path / "a.npz")["X"].tolist() == [[0.0]]
    random = np.random.default_rng(0)
    for _ in range(200):
        bad = bytearray(good)
        for place in random.integers(len(good), size=random.integers(1, 5)):
            bad[place] = random.integers(256)
        (tmp_path / "a.npz").write_bytes(bad[: random.integers(1, 2 * len(good))])
        try:
            read_arrays(tmp_path / "a.npz")
        except ValueError as error:
            assert "can't be read as arrays by name" in str(error)
