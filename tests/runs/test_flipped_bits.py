"""One flipped bit, or a file cut short, in anything that is kept: it is said of what file, or nothing is different."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from descant import _kept, attention as at
from descant._output import reserve, written
from descant._sealed import read_page, write_page
from descant._tensors import read as read_tensors, to_bytes
from descant.claims import Evidence, Lab, kept
from descant.claims._judgement import judge, judgement_path
from descant.llm import Setting, Study, found, run, write_report
from descant.llm._similarity import Cosines
from descant.programs import compile_program, load as load_program
from descant.runs import Run, Store
from tests.support.llm_data import Copies, benchmark, encode, encoder
from tests.support.report_claims import claims, curves, maps, passing, tables
from tests.support.run_folders import finished, opened, under_way
from tests.support.runs_worker import Toy

DRAWS = 240


def leaves(tree: Any) -> list[Any]:
    """Values that are equal only if all bits are."""
    flat, shape = jax.tree.flatten(tree)
    return [str(shape), *((leaf.tobytes(), leaf.shape) if hasattr(leaf, "tobytes") else repr(leaf) for leaf in flat)]


@dataclass(frozen=True)
class Kept:
    """Files that belong together, and all that is read from them."""

    folder: Path
    read: Callable[[], Any]
    names: tuple[str, ...]

    def paths(self) -> list[Path]:
        return [self.folder / name for name in self.names]


def a_finished_run(folder: Path) -> Kept:
    whole = finished(folder, Toy(6))
    names = tuple(whole)

    def read() -> Any:
        run = Run(folder)
        beside = [run.file(name).read_bytes() for name in run.files]
        table = run.metrics().to_pylist()
        return repr((run.key, run.code, run.config, run.environment, run.result, table, beside)), leaves(run.model())

    return Kept(folder, read, names)


def a_run_under_way(folder: Path) -> Kept:
    under_way(folder, Toy(9), 5)

    def read() -> Any:
        run = Run(folder)
        state = run.checkpoint()
        assert state is not None
        rows = run.metrics().to_pylist()
        return repr((run.key, run.config, state.info, rows)), leaves(state.arrays), list(state.arrays)

    return Kept(folder, read, ("config.json", "checkpoint.safetensors", "metrics.jsonl"))


def a_program(folder: Path) -> Kept:
    compile_program("power", n=2, k=1, T=2).save(folder)

    def read() -> Any:
        program = load_program(folder)
        return program.description, leaves(program.network)

    return Kept(folder, read, ("program.json", "network.safetensors"))


def a_model(folder: Path) -> Kept:
    at.save(at.LSA.random(3, heads=2, key=jax.random.key(0)), folder / "model.safetensors")
    return Kept(folder, lambda: leaves(at.load(folder / "model.safetensors")), ("model.safetensors",))


def a_report(folder: Path) -> Kept:
    """The evidence of a claim, the parts of one that is not judged yet, and the list of what was written."""
    claim = replace(
        claims()["elsa-plain"],
        refuted_by={"sizes": "A size."},
        experiment=lambda lab: Evidence((passing(), passing()), (curves(), maps()), tables()),
    )
    judge(claim, folder)
    path = judgement_path(folder, claim, "quick", 0)
    lab = Lab(folder / "other", folder / "runs")
    lab.keep("part", lambda: {"risks": [0.1, float("inf"), float("nan")], "words": "größer"})
    reserve(folder, ["index.html", "claims"])

    def read() -> Any:
        judgements = kept(folder, {claim.id: claim})
        assert judgements[claim.id].verdict == "holds"
        part = lab.keep("part", lambda: pytest.fail("computed again"))
        return repr((judgements, part, _kept.read(of_part), written(folder)))

    [of_part] = (folder / "other" / "parts").iterdir()
    names = (*(str(each.relative_to(folder)) for each in (path, of_part)), ".written.json")
    return Kept(folder, read, names)


def answers(folder: Path) -> Kept:
    data = benchmark(folder / "data")
    place = folder / "llm" / "copies"
    results = run(Copies(), data, Setting(queries=6, shots=2), place, encoder=encoder)
    write_report(Study.of(results), place / "terse-all-2", model="Copies 1B")
    pairs = [each.pair for each in data.asked]
    identity = encoder()[0]
    whole = Cosines(place / "cosines.jsonl", identity)
    whole.learn(pairs, encode, lambda done, total: None)

    def read() -> Any:
        [item] = found(folder / "llm")
        # A line that was cut off, as a crash may have done it, is computed anew.
        cosines = Cosines(place / "cosines.jsonl", identity)
        cosines.learn(pairs, encode, lambda done, total: None)
        return repr((item.name, item.asked, item.study())), [cosines(pair) for pair in pairs]

    return Kept(place, read, ("answers.jsonl", "cosines.jsonl", "terse-all-2/setting.json"))


EVERYTHING = (a_finished_run, a_run_under_way, a_program, a_model, a_report, answers)


def damaged(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    if draw.random() < 0.25:
        length = draw.randrange(len(data))
        return f"cut to {length} bytes", data[:length]
    bit = draw.randrange(8 * len(data))
    spoilt = bytearray(data)
    spoilt[bit // 8] ^= 1 << bit % 8
    return f"bit {bit} flipped", bytes(spoilt)


def test_no_damage_goes_unnoticed(tmp_path, draw):
    everything = [make(tmp_path / make.__name__) for make in EVERYTHING]
    wholes = [each.read() for each in everything]
    files = [(index, path) for index, each in enumerate(everything) for path in each.paths()]
    assert {path.name for _, path in files} >= {"metrics.parquet", "result.json", "judgement.json", "answers.jsonl"}
    contents = {path: path.read_bytes() for _, path in files}
    unharmed = []
    for number in range(DRAWS):
        # All in turn: each file is damaged in about ten ways.
        index, path = files[number % len(files)]
        what, spoilt = damaged(contents[path], draw)
        path.write_bytes(spoilt)
        try:
            value = everything[index].read()
        except ValueError as error:
            assert str(path) in str(error) and "\n" not in str(error), f"{path}, {what}: {error}"
        else:
            assert value == wholes[index], f"{path}, {what}: unnoticed"
            unharmed.append(f"{path.name}, {what}")
        path.write_bytes(contents[path])
    # Such as a white space that became another, or a digit beyond the last that counts.
    assert len(unharmed) < DRAWS / 8, unharmed


def test_bit_by_bit(tmp_path):
    """Every bit of a small page, every third of a small file of arrays."""
    page, arrays = tmp_path / "page.json", tmp_path / "arrays.safetensors"
    value = {"a": [0.1, -2, None], "b": {"c": "ü"}}
    write_page(page, value)
    arrays.write_bytes(to_bytes({"x": np.array([1.0, 2.0]), "y": np.zeros(())}, {"info": {"step": 3}}))
    whole = leaves(read_tensors(arrays, "delete it"))
    for path, read in (
        (page, lambda: read_page(page)),
        (arrays, lambda: leaves(read_tensors(arrays, "delete it"))),
    ):
        data = path.read_bytes()
        for bit in range(0, 8 * len(data), 1 if path is page else 3):
            spoilt = bytearray(data)
            spoilt[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bytes(spoilt))
            try:
                assert read() == (value if path is page else whole)
            except ValueError as error:
                assert str(path) in str(error) and str(error).endswith("; delete it.")
        path.write_bytes(data)


WEIRD = {
    "empty": b"",
    "NUL": bytes(64),
    "a list": b"[]",
    "null": b"null",
    "a number": b"1e999",
    "a long number": b'{"a": ' + b"9" * 5000 + b"}",
    "no UTF-8": b'{"a": "\xff\xfe"}',
    "deep": b"[" * 200_000,
    "deep and closed": b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "deep, with a checksum": b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b', "sha256": "0"}',
    "a checksum that is none": b'{"sha256": [1]}',
    "JSON of another": b'{"name": "mine"}',
}


@pytest.mark.parametrize("content", WEIRD.values(), ids=list(WEIRD))
def test_what_is_not_ours_is_named(tmp_path, content):
    for path, read in (
        (tmp_path / "page.json", read_page),
        (tmp_path / "part.json", _kept.read),
        (tmp_path / "run" / "config.json", lambda path: Run(path.parent)),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"can't be read: ") as said:
            read(path)
        assert str(path) in str(said.value) and len(str(said.value)) < 500
    opened(tmp_path / "fine", Toy(3))
    assert [run.name for run in Store(tmp_path).runs()] == ["fine"]
    assert [each.folder.name for each in Store(tmp_path).broken()] == ["run"]
