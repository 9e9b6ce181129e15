"""Pairs of sentences with a score of their similarity, read from the STS benchmark's files."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

LOW, HIGH = 0.0, 5.0
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Pair:
    """Two sentences. It has no score: whoever is given a pair can't read its label."""

    first: str
    second: str


@dataclass(frozen=True)
class Labelled:
    """A pair and people's mean score of its similarity, 0 to 5."""

    pair: Pair
    score: float


@dataclass(frozen=True)
class Benchmark:
    """Pairs to take demonstrations from, and pairs to ask for."""

    train: tuple[Labelled, ...]
    asked: tuple[Labelled, ...]
    split: str = "test"


def read_benchmark(folder: Path, split: str = "test") -> Benchmark:
    """Read `stsb-en-train.csv` and the file of the split that is asked for."""
    if split not in ("test", "dev"):
        raise ValueError(f"split is {split!r}; expected test or dev: demonstrations come from train.")
    if not folder.is_dir():
        raise ValueError(f"data is {str(folder)!r}, which is no folder; expected the one with stsb-en-train.csv in it.")
    return Benchmark(_read(folder / "stsb-en-train.csv"), _read(folder / f"stsb-en-{split}.csv"), split)


def _read(path: Path) -> tuple[Labelled, ...]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            found = tuple(_row(path, number, row) for number, row in enumerate(csv.reader(file), 1) if row)
    except FileNotFoundError:
        raise ValueError(
            f"{path} does not exist; expected the STS benchmark as stsb-en-train.csv, "
            "stsb-en-dev.csv and stsb-en-test.csv."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} can't be read as CSV in UTF-8: {error}.") from None
    if not found:
        raise ValueError(f"{path} is empty; expected rows of sentence, sentence, score.")
    return found


def _row(path: Path, number: int, row: list[str]) -> Labelled:
    try:
        first, second, text = row
        score = float(text)
    except ValueError:
        raise ValueError(f"{path}, row {number}, is {row!r}; expected sentence, sentence, score.") from None
    if not (math.isfinite(score) and LOW <= score <= HIGH):
        raise ValueError(f"{path}, row {number}, has the score {text}; expected {LOW:g} to {HIGH:g}.")
    # A line break inside a sentence would look like the end of one in a prompt.
    return Labelled(Pair(" ".join(first.split()), " ".join(second.split())), score)
