"""Invocations that must be refused, made from the commands' own signatures, and a folder to refuse them in.

For every command and every one of its parameters: values of the wrong sort, out of range, unknown, twice, missing.
A value that could be right, and would start work, is never made here.
"""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np

from descant.cli import app
from descant.sweeps import Outcome, Store as SweepStore, find_evaluator, make_plan, to_table, write_table
from descant.sweeps._grid import as_grid
from tests.support.llm_data import write_data

HUGE = "9" * 30
NOT_WHOLE = (
    "",
    "two",
    "1.5",
    "2.0",
    "1e3",
    "nan",
    "inf",
    "-inf",
    "1e309",
    "0x10",
    "1_",
    "1,2",
    "½",
    "3\0",
    HUGE,
    "-" + HUGE,
)
NOT_FINITE = ("", "half", "nan", "inf", "-inf", "1e309", "-1e999", "1..5", "0x1p3", "1 2", "1e", "0.5\0")
NOT_A_NAME = (
    "",
    "nobody",
    "nowhere:Thing",
    "os:nothing",
    "os:sep",
    "../../evil",
    "☃",
    "a b",
    "a\0b",
    "x" * 3000,
    ":",
    "a:b:c",
)
# Names that laws and choices of `descant` never have; numbers among them may be levels of noise.
NOT_A_LAW = (*NOT_A_NAME, "gaussian:nan", "student-t:-1", "student-t:inf", "student-t:1,2,3", "-1", "nan", "1,-1")
# The least that a flag may be; whole numbers may be anything where it is None.
LEAST = {"--seed": None, "--shots": 0, "--samples": 2, "--levels": 2, "--contexts": 64, "--port": 0}
# Decimal numbers that are out of range.
OUT_OF_RANGE = {
    "--prior-scale": ("-1", "-1e-9"),
    "--input-condition": ("0", "0.5", "-1"),
    "--lr": ("0", "-1", "-0.001"),
}
# What else names a flag: a setting is named itself, and what is loaded with a model is one.
SAYS = {"--set": ("the size n", "no scalar"), "--kinds": ("model is",)}
TOO_MUCH = {
    "--d": "10000000",
    "--samples": str(10**12),
    "--levels": str(10**8),
    "--contexts": str(10**12),
    "--seeds": str(10**8),
}

# What each command takes, with everything right; `{name}` is a file or folder of the sandbox.
RIGHT = {
    "risk": ["zero", "--d", "2", "--n", "3"],
    "reproduce": ["zero-mean-heads"],
    "claims": [],
    "crosscheck": [],
    "models": [],
    "train": ["lsa", "--d", "2", "--n", "3"],
    "eval": ["{run}"],
    "explain": ["{run}"],
    "runs": [],
    "runs compare": ["{run}", "{run}"],
    "runs delete": ["nothing"],
    "table1": ["--quick"],
    "compile": ["ridge", "--set", "n=4", "d=2", "T=1"],
    "run": ["{program}", "--inputs", "{arrays}", "--out", "results.npz"],
    "decompile": ["{program}"],
    "programs": [],
    "sweep": ["{grid}", "--executor", "local"],
    "plot": ["{swept}"],
    "fuzz": ["--programs", "1", "--max-steps", "2"],
    # The last thing that is looked at: no model is loaded.
    "llm sts": ["--data", "{sts}", "--queries", "3", "--model", "missing.gguf"],
    "llm models": [],
    "llm regression": ["--tasks", "3", "--shots", "2", "--model", "missing.gguf"],
    "llm compare": ["{sts}", "{sts}"],
    # Nobody can listen there: no server is started.
    "explore": ["--no-browser", "--host", "nowhere.invalid"],
}


@dataclass(frozen=True)
class Sandbox:
    """A folder with a run, a program, arrays, and files of the user's own."""

    root: Path

    @classmethod
    def made(cls, root: Path) -> "Sandbox":
        """Fill a folder."""
        from descant import LinearRegression
        from descant.attention import make_model
        from descant.cli._config import ModelFlags, SolverFlags, TrainConfig
        from descant.cli._task import TaskFlags
        from descant.programs import compile_program
        from descant.runs import Store

        box = cls(root)
        task = TaskFlags(d=2, n=3)
        settings = {"solver": "auto", "objective": "auto", "settings": SolverFlags(), "seed": 0, "samples": 64}
        config = TrainConfig(model="lsa", options=ModelFlags(), task=task, **settings).to_json()
        import jax

        made = make_model("lsa", LinearRegression(2, 3), key=jax.random.key(0))
        for name in ("run", "other-run"):
            run = Store(root / "runs", code="0" * 16).open(config | {"seed": len(name)}, root / name)
            run.finish(made, {"risk": 1.0, "standard_error": 0.0, "adjusted": 1.0, "bayes": 0.0, "stopped": "at once"})
        compile_program("ridge", n=4, d=2, T=3).save(box.program)
        np.savez(box.arrays, X=np.ones((4, 2)), y=np.ones((4, 1)))
        write_data(root / "sts", train=20, asked=10)
        (root / "notes.txt").write_text("the user's own\n")
        (root / "folder").mkdir()
        (root / "folder" / "kept.txt").write_text("also the user's\n")
        (root / "broken.json").write_text("{")
        (root / "grid.toml").write_text('evaluator = "tests.support.sweep_points:square"\n[grid]\nx = [1]\n')
        _sweep_into(root)
        (root / "deep.py").write_text("def deep(X: 'n d'):\n    return " + "(" * 500 + "X" + ")" * 500 + "\n")
        (root / "nested.py").write_text("def nested(X: 'n d'):\n    return X" + " + X" * 20_000 + "\n")
        for name, content in damaged_arrays(box.arrays.read_bytes()).items():
            (root / f"{name}.npz").write_bytes(content)
        (root / "terabytes.npy").write_bytes(npy_header((10**13,)))
        return box

    @property
    def program(self) -> Path:
        return self.root / "program"

    @property
    def arrays(self) -> Path:
        return self.root / "arrays.npz"

    def filled(self, words: list[str]) -> list[str]:
        """The words, with the names of the sandbox's files in their places."""
        names = {each: str(self.root / each) for each in ("run", "program", "sts")} | {
            "arrays": str(self.arrays),
            "grid": str(self.root / "grid.toml"),
            "swept": str(self.root / "swept"),
        }
        return [names.get(word[1:-1], word) if word.startswith("{") else word for word in words]

    def contents(self) -> dict[str, bytes | None]:
        """Every file, with what is in it, and every folder."""
        found = {path: path.read_bytes() if path.is_file() else None for path in sorted(self.root.rglob("*"))}
        return {str(path): content for path, content in found.items() if path.name != ".lock"}


def npy_header(shape: tuple[int, ...]) -> bytes:
    """What an array of this shape begins with, and nothing behind it."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


def damaged_arrays(good: bytes) -> dict[str, bytes]:
    """Files that are no arrays by name, each in another way."""

    def packed(content: bytes, how: int = zipfile.ZIP_STORED) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", how) as archive:
            archive.writestr("X.npy", content)
        return file.getvalue()

    single, objects = io.BytesIO(), io.BytesIO()
    np.save(single, np.ones(3))
    np.savez(objects, X=np.array([{}], dtype=object))
    middle = len(good) // 4
    return {
        "empty": b"",
        "text": b"X, Y\n1, 2\n",
        "single": single.getvalue(),
        "objects": objects.getvalue(),
        "truncated": good[: len(good) // 2],
        "tail-only": good[len(good) // 2 :],
        "flipped": good[:middle] + bytes([good[middle] ^ 0x10]) + good[middle + 1 :],
        "terabytes": packed(npy_header((10**6, 10**6))),
        "negative": packed(npy_header((-4, 2))),
        "bomb": packed(npy_header((4, 2)) + b"\0" * 10**7, zipfile.ZIP_DEFLATED),
        "no-header": packed(b"hello"),
    }


def commands(of: Any = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its words, with its own arguments."""
    for name in of:
        if not name.startswith("-"):
            yield from commands(of[name], (*path, name))
    if of.default_command is not None and path:
        yield " ".join(path), of


@dataclass(frozen=True)
class Bad:
    """An invocation that must be refused, and words of which the sentence should have one: its flag, or its value."""

    arguments: list[str]
    names: tuple[str, ...] = ("",)


def bad_invocations(name: str, command: Any, box: Sandbox) -> Iterator[Bad]:
    """All that is refused of one command."""
    words, right = name.split(), box.filled(RIGHT[name])
    for unknown in (["--nope"], ["--nope", "1"], ["--nope=1"], ["-z"]):
        yield Bad([*words, *right, *unknown], (unknown[0].split("=")[0],))
    for each in command.assemble_argument_collection():
        if each.children:
            continue
        if not each.name.startswith("--"):
            yield from (Bad([*words, text, *right[1:]]) for text in _positional(name, box))
            continue
        for given, value in _misuses(name, each, box, right):
            flag = each.name[2:]
            names = (flag, flag.replace("-", " "), value or flag, *SAYS.get(each.name, ()))
            yield Bad([*words, *_without(right, each.name), *given], names)


def _misuses(name: str, each: Any, box: Sandbox, right: list[str]) -> Iterator[tuple[list[str], str]]:
    """Everything wrong that can be done with a flag: its words, and the value among them."""
    flag, sorts = each.name, get_args(each.hint) or (each.hint,)
    if bool in sorts:
        yield from (([f"{flag}={text}"], text) for text in ("", "maybe", "2", "1.0", "nan", "☃"))
        yield [f"{flag}-at-all"], ""
        return
    value = right[right.index(flag) + 1] if flag in right else "1"
    yield [flag], ""
    if list not in map(get_origin, (each.hint, *sorts)) and get_origin(each.hint) is not tuple:
        yield [flag, value, flag, value], ""
        yield [flag, value, f"{flag}={value}"], ""
    if each.required:
        yield [], ""
    yield from (([f"{flag}={text}"], text) for text in _bad_values(name, each, sorts, box))


def _bad_values(name: str, each: Any, sorts: tuple[Any, ...], box: Sandbox) -> Iterator[str]:
    flag = each.name
    if int in sorts:
        yield from NOT_WHOLE
        least = LEAST.get(flag, 1)
        if least is not None:
            yield from (str(least - 1), "-1", "-1000000000000")
        if flag in TOO_MUCH:
            yield TOO_MUCH[flag]
    elif float in sorts:
        yield from NOT_FINITE
        yield from OUT_OF_RANGE.get(flag, ())
    elif Path in sorts:
        yield from _paths(name, flag, box)
    elif get_origin(each.hint) is Literal:
        yield from ("", "other", str(sorts[0]).upper(), "☃", f"{sorts[0]} ", "0")
    elif flag in ("--prior", "--inputs", "--noise", "--label-noise"):
        yield from NOT_A_LAW
    elif flag in ("--prior-mean", "--input-spectrum"):
        names = ("missing.txt", "broken.json", "terabytes.npy", "notes.txt", "folder", "text.npz", "flipped.npz")
        yield from (*NOT_FINITE, "1,nan", "1,2,3", ",", "power:", "power:nan", "power:two", "1,,2")
        yield from (str(box.root / each) for each in names)
    elif flag == "--set":
        yield from (
            "",
            "n",
            "n=",
            "=3",
            "n=4=5",
            "n=two",
            "n=1.5",
            "n=0",
            "n=-1",
            "n=nan",
            "n=inf",
            "n=1e400",
            "q=3",
            "n=9\0",
            "☃=1",
        )
    elif flag == "--out":
        # Not a path alone: any address that fsspec knows.
        below = str(box.root / "notes.txt" / "below")
        yield from ("", "a\0b", "nonsense://somewhere", str(box.root / "notes.txt"), below)
    elif flag == "--guess":
        yield from ("nobody", ",", "none,nobody", "none,,gold", "☃")
    elif flag == "--name":
        yield from ("", "../up", "a/b", "a\0b")
    elif flag not in ("--base-url", "--model"):
        # An address that nobody answers at is not a mistake in it, and a model may be any folder.
        yield from NOT_A_NAME


def _positional(name: str, box: Sandbox) -> tuple[str, ...]:
    files = tuple(str(box.root / each) for each in ("notes.txt", "folder", "missing", "notes.txt/x", "broken.json"))
    match name:
        case "runs compare" | "eval" | "explain":
            return ("", "nothing", "a\0b", "x" * 300, "☃", *files)
        case "run" | "decompile":
            return ("a\0b", "nothing", *files)
        case "sweep" | "plot":
            return ("a\0b", "nothing", *files)
        case "compile":
            return (*NOT_A_NAME, *files, *(str(box.root / each) for each in ("deep.py", "nested.py", "flipped.npz")))
    return NOT_A_NAME


def _paths(name: str, flag: str, box: Sandbox) -> Iterator[str]:
    yield from ("", "a\0b")
    below = str(box.root / "notes.txt" / "below")
    if flag in ("--out", "--root"):
        # Whether there are runs in a folder is for `runs` to say; a language model is opened first.
        if name not in ("runs", "runs compare", "runs delete", "llm sts", "llm regression"):
            yield below
            if name not in ("run", "decompile"):
                yield str(box.root / "notes.txt")
            else:
                yield str(box.root / "folder")
    elif flag == "--inputs":
        names = ("missing", "notes.txt", "folder", *damaged_arrays(box.arrays.read_bytes()))
        yield from (str(box.root / each) + ("" if each in names[:3] else ".npz") for each in names)
        yield below
    elif flag == "--data":
        yield from (str(box.root / each) for each in ("missing", "notes.txt", "folder"))
        yield below


def _without(words: list[str], flag: str) -> list[str]:
    """The words without a flag and its values."""
    if flag not in words:
        return words
    start = words.index(flag)
    end = next((index for index in range(start + 1, len(words)) if words[index].startswith("--")), len(words))
    return words[:start] + words[end:]


def _sweep_into(root: Path) -> None:
    """The table of a sweep of two points."""
    plan = make_plan(as_grid({"grid": {"x": [1, 2]}}), find_evaluator("tests.support.sweep_points:square"))
    write_table(SweepStore(root), "swept", to_table(plan, {each: Outcome(value=1.0) for each in plan.points}, "swept"))
