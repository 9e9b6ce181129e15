"""A small benchmark in the form of STS, and an encoder for it: pairs that share more words have higher scores."""

import csv
import hashlib
import random
from pathlib import Path

import numpy as np

from descant.llm import Benchmark, Reply, Setting, find_template, read_benchmark
from descant.llm._experiment import _Asker
from descant.llm._similarity import Cosines

WORDS = (
    "man",
    "woman",
    "dog",
    "cat",
    "child",
    "horse",
    "plays",
    "sings",
    "rides",
    "eats",
    "sees",
    "paints",
    "red",
    "old",
)


def write_data(folder: Path, train: int = 60, asked: int = 40) -> Path:
    """Write the files; the scores have one to three decimals, as the benchmark's do."""
    draw = random.Random(7)
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("test", asked), ("dev", asked)):
        with (folder / f"stsb-en-{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            for _ in range(count):
                first = draw.sample(WORDS, 5)
                kept = draw.randrange(6)
                second = first[:kept] + draw.sample([word for word in WORDS if word not in first], 5 - kept)
                score = round(min(max(kept + draw.uniform(-0.5, 0.5), 0.0), 5.0), 3)
                writer.writerow([f"A {' '.join(first)}.", f'The {" ".join(second)}, "so".', score])
    return folder


def benchmark(folder: Path) -> Benchmark:
    """The small benchmark."""
    return read_benchmark(write_data(folder))


def encode(texts: list[str]) -> np.ndarray:
    """Unit vectors of the words in a text."""
    vectors = np.zeros((len(texts), 64))
    for row, text in enumerate(texts):
        for word in text.lower().replace(".", "").replace(",", "").split():
            vectors[row, hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def encoder():
    """As `run` wants it."""
    return "words", encode


class Nobody:
    """A model that is never asked: for making questions."""

    name, identity, reads_along = "nobody", "nobody", True

    def replies(self, prompts, wording, scale):
        raise AssertionError("nobody was asked")


def asker(data: Benchmark, folder: Path, **setting) -> _Asker:
    """What makes the questions, with its embeddings learnt."""
    made = _Asker(Nobody(), data, Setting(**{"template": find_template("terse"), **setting}))
    made.learn_cosines(Cosines(folder / "cosines.jsonl", "words"), encode, lambda stage, done, total: None)
    return made


class Copies:
    """A model that is a formula: it answers with the guess in the prompt, and 2.5 where there is none."""

    name, identity, reads_along = "copies", "copies-1", True

    def __init__(self):
        self.asked = []

    def replies(self, prompts, wording, scale):
        for index, prompt in enumerate(prompts):
            self.asked.append(prompt.text)
            said = [float(stem.split("guess: ")[1].split()[0]) if "guess: " in stem else 2.5 for stem in prompt.stems]
            yield index, Reply(said[-1], "ok", (0.1,) * 6, 0.6, tuple(said[:-1]))
