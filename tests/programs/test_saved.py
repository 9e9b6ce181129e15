"""Compiled programs on disk, as strangers may have left them: whatever is wrong is a sentence, in bounded memory."""

import json

import numpy as np
import pytest

from descant import _tensors
from descant._sealed import digest, unsealed, write_page
from descant.programs import Program, compile_program, load

TALL = 'def tall(A: "2 2", U: "9 1", w: "7 3" = 0):\n    return A @ A\n'


def test_an_unread_input_may_be_taller_than_H(tmp_path):
    compiled = compile_program(Program.from_text(TALL))
    assert compiled.sizes.rows == 2
    compiled.save(tmp_path)
    again = load(tmp_path)
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    for found in (again.run({"A": a, "U": np.ones((9, 1))}), again.evaluate({"A": a, "U": np.ones((9, 1))})):
        np.testing.assert_allclose(found["out0"], a @ a)


@pytest.fixture
def saved(tmp_path):
    compile_program("ridge", n=6, d=3, T=4).save(tmp_path)
    return tmp_path


def resealed(folder, change):
    """A description that somebody changed, with a checksum that fits again."""
    value = unsealed((folder / "program.json").read_bytes())
    change(value)
    write_page(folder / "program.json", value)


def rebuilt(folder, change):
    """Weights whose note somebody changed, with all checksums fitting again."""
    tensors, note = _tensors.read(folder / "network.safetensors", "")
    change(tensors, note)
    content = _tensors.to_bytes(tensors, note)
    (folder / "network.safetensors").write_bytes(content)
    resealed(folder, lambda value: value.update(weights=digest(content)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        # y is where X was said to be, and the other way round: both lie in H, and not where the first block reads them.
        (lambda v: v["inputs"][0].update(column=1), "X is not where the first block reads it"),
        (lambda v: v["inputs"][1].update(column=-1), "y is not where the first block reads it"),
        (lambda v: v["outputs"][0].update(column=3), "w is not where the last block writes it"),
        (lambda v: v["outputs"][0].update(rows=2), "w is not where the last block writes it"),
        (lambda v: v["outputs"][0].update(column=-1), "w does not lie in H"),
        (lambda v: v["inputs"].append(dict(v["inputs"][0])), "X twice"),
        (lambda v: v["outputs"].append(dict(v["outputs"][0])), "w twice"),
        (lambda v: v.update(outputs=[]), "no outputs"),
        (lambda v: v["blocks"][0]["before"][0].update(column=10**9), "does not lie in H"),
        (lambda v: v["blocks"][0]["after"][0].update(rows=-1), "does not lie in H"),
    ],
)
def test_a_description_that_was_changed(saved, change, sentence):
    resealed(saved, change)
    with pytest.raises(ValueError, match=sentence):
        load(saved)


def loop_of(note):
    return next(each for each in note["model"]["fields"]["blocks"] if each["kind"] == "Repeated")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t, n: loop_of(n)["fields"].update(count=10**12), "are run 1000000000001 times"),
        (lambda t, n: loop_of(n)["fields"].update(count=0), "count is 0"),
        (lambda t, n: loop_of(n)["fields"].update(count=2.5), "count"),
        (lambda t, n: n["model"]["fields"]["blocks"].clear(), "blocks is empty|no place for"),
    ],
)
def test_weights_that_were_changed(saved, change, sentence):
    rebuilt(saved, change)
    with pytest.raises(ValueError, match=sentence):
        load(saved)


def test_blocks_with_a_residual_are_others(saved):
    def residual(_, note):
        for each in note["model"]["fields"]["blocks"]:
            (each if each["kind"] == "ELSABlock" else each["fields"]["blocks"][0])["fields"]["residual"] = True

    rebuilt(saved, residual)
    with pytest.raises(ValueError, match="a residual"):
        load(saved)


@pytest.mark.parametrize("name", ["network.safetensors", "program.json"])
def test_every_flipped_bit_is_found(saved, name):
    path = saved / name
    good, original = path.read_bytes(), load(saved)
    random = np.random.default_rng(0)
    for place in random.choice(len(good), 60, replace=False):
        flipped = bytearray(good)
        flipped[place] ^= 1 << int(random.integers(8))
        path.write_bytes(bytes(flipped))
        try:
            found = load(saved)
        except ValueError:
            continue
        # The text may say the same in another way: JSON has \\u00b7 and \\u00B7.
        assert name == "program.json" and found.description == original.description
    for cut in (0, 1, 8, len(good) // 2, len(good) - 3):
        path.write_bytes(good[:cut])
        with pytest.raises(ValueError):
            load(saved)
    path.write_bytes(good)
    load(saved)


def test_files_that_are_no_programs(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    np.save(tmp_path / "array.npy", np.ones(3))
    for path in (tmp_path / "file", tmp_path / "array.npy", tmp_path / "nowhere", tmp_path):
        with pytest.raises(ValueError, match="holds no compiled program"):
            load(path)
    folder = tmp_path / "folders"
    (folder / "program.json").mkdir(parents=True)
    (folder / "network.safetensors").mkdir()
    with pytest.raises(ValueError, match=r"program\.json"):
        load(folder)
    for text in ("[" * 100_000, '{"a":' * 100_000, "null", "[]", '{"sha256": 3}', "\ud800".encode("utf-8", "replace")):
        folder = tmp_path / "texts"
        folder.mkdir(exist_ok=True)
        (folder / "program.json").write_bytes(text if isinstance(text, bytes) else text.encode())
        (folder / "network.safetensors").write_bytes(b"")
        with pytest.raises(ValueError, match="can't be read"):
            load(folder)


def test_a_header_that_claims_terabytes_takes_no_memory(saved):
    header = json.dumps({"w": {"dtype": "F64", "shape": [10**7, 10**6], "data_offsets": [0, 8 * 10**13]}}).encode()
    content = len(header).to_bytes(8, "little") + header
    (saved / "network.safetensors").write_bytes(content)
    resealed(saved, lambda value: value.update(weights=digest(content)))
    with pytest.raises(ValueError, match=r"network\.safetensors can't be read"):
        load(saved)


def test_a_huge_file_is_not_read(saved, monkeypatch):
    """A sparse file of sixty gigabytes, where one is free."""
    monkeypatch.setattr("descant._memory.free", lambda: 10**9)
    for name in ("network.safetensors", "program.json"):
        good = (saved / name).read_bytes()
        with (saved / name).open("r+b") as file:
            file.truncate(60 * 10**9)
        with pytest.raises(ValueError, match=f"{name} would take 180 GB of memory"):
            load(saved)
        (saved / name).write_bytes(good)
