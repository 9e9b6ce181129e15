"""Pairs of sentences with a score of their similarity: the STS benchmark, SICK, or a table of one's own."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .._names import slug
from ._tables import Row, check_columns, read_table

SPLITS = ("test", "dev")
# Scores are shown on their own scale if each begins with one digit, else on that of the STS benchmark.
LOW, HIGH = 0.0, 5.0
LEAST_HIGH, MOST_HIGH = 2.0, 9.9
# Of a single table, every third row is asked for; the others are shown.
ASKED_OF_ONE = 3


@dataclass(frozen=True)
class Known:
    """A data set by the names of its files, and the scale of its scores."""

    name: str
    train: str
    splits: dict[str, str]
    scale: tuple[float, float]


KNOWN = (
    Known("stsb", "stsb-en-train.csv", {"test": "stsb-en-test.csv", "dev": "stsb-en-dev.csv"}, (0.0, 5.0)),
    Known("sick", "SICK_train.txt", {"test": "SICK_test_annotated.txt", "dev": "SICK_trial.txt"}, (1.0, 5.0)),
)


@dataclass(frozen=True)
class Pair:
    """Two sentences. It has no score: whoever is given a pair can't read its label."""

    first: str
    second: str


@dataclass(frozen=True)
class Labelled:
    """A pair and people's mean score of its similarity."""

    pair: Pair
    score: float


@dataclass(frozen=True)
class Benchmark:
    """Pairs to take demonstrations from, and pairs to ask for; scores are from `low` to `high`."""

    train: tuple[Labelled, ...]
    asked: tuple[Labelled, ...]
    split: str = "test"
    name: str = "own"
    low: float = LOW
    high: float = HIGH

    @cached_property
    def digest(self) -> str:
        """What the data are known by: every sentence and every label, of both files, and the scale."""
        rows = [(each.pair.first, each.pair.second, each.score) for each in (*self.train, *self.asked)]
        text = repr((self.split, self.low, self.high, len(self.train), rows))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def width(self) -> float:
        """How wide the scale is."""
        return self.high - self.low


def read_benchmark(
    data: Path,
    split: str = "test",
    *,
    train: Path | None = None,
    columns: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
) -> Benchmark:
    """Read a data set: a folder with the files of a known one, or a table, with `train` to show from if there is one.

    `columns` and `scale` say what is in a table of one's own. Scores that don't begin with one digit (0 to 1, 1 to 10,
    0 to 100) are put on the scale from 0 to 5 by a straight line.
    """
    check_columns(columns)
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; expected test or dev: demonstrations come from train.")
    if data.is_dir():
        known = next((each for each in KNOWN if (data / each.train).is_file()), None)
        if known is None:
            raise ValueError(
                f"data is {str(data)!r}, a folder without {' or '.join(each.train for each in KNOWN)}; expected one of "
                "these beside the file that is asked from, or a table of your own: --data FILE --train FILE."
            )
        # The files are taken as they were published, unless they are said to be otherwise.
        shown, asked = (read_table(data / name, columns) for name in (known.train, known.splits[split]))
        return _benchmark(known.name, shown, asked, split, scale or known.scale)
    if not data.is_file():
        raise ValueError(
            f"data is {str(data)!r}, which is no folder and no file; expected a folder of the STS benchmark or of SICK "
            "(with stsb-en-train.csv or SICK_train.txt in it), or a table of sentence, sentence, score."
        )
    asked = read_table(data, columns)
    if train is not None:
        shown = read_table(train, columns)
    else:
        shown = [row for place, row in enumerate(asked) if place % ASKED_OF_ONE]
        asked = asked[::ASKED_OF_ONE]
        if not shown:
            raise ValueError(f"{data} has one row; expected more, to show some and to ask for others.")
    if scale is None:
        scores = [score for *_, score in (*shown, *asked)]
        raise ValueError(
            f"{data} has scores from {min(scores):g} to {max(scores):g}, and it is not known what they mean; expected "
            "the ends of their scale: --scale 0,5 (or 1,5, or 0,1, ...)."
        )
    return _benchmark(slug(data.stem, most=40), shown, asked, split, scale)


def _benchmark(name: str, shown: list[Row], asked: list[Row], split: str, scale: tuple[float, float]) -> Benchmark:
    low, high = scale
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"scale is {low:g},{high:g}; expected two finite numbers, the lower first.")
    for row, score in ((row, row[2]) for row in (*shown, *asked)):
        if not low <= score <= high:
            raise ValueError(
                f"a row has the score {score:g} ({row[0][:60]!r}); expected {low:g} to {high:g} (--scale)."
            )
    as_it_is = low >= 0 and LEAST_HIGH <= high <= MOST_HIGH
    new_low, new_high = scale if as_it_is else (LOW, HIGH)

    def labelled(row: Row) -> Labelled:
        score = row[2] if as_it_is else LOW + (row[2] - low) / (high - low) * (HIGH - LOW)
        return Labelled(Pair(row[0], row[1]), score)

    return Benchmark(tuple(map(labelled, shown)), tuple(map(labelled, asked)), split, name, new_low, new_high)
