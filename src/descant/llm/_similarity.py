"""Guesses that anyone can make without a language model: words in common, and the cosine of sentence embeddings."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._draws import generator
from ._lines import Lines
from ._pairs import HIGH, LOW, Benchmark, Pair

# Training pairs on which a similarity is put on the scale of scores; a straight line needs no more.
FIT_PAIRS = 1000
BATCH = 64


@dataclass(frozen=True)
class Line:
    """score = intercept + slope * similarity, kept within the scale; by least squares on training pairs."""

    intercept: float
    slope: float
    low: float = LOW
    high: float = HIGH

    @classmethod
    def fit(cls, similarity: Sequence[float], scores: Sequence[float], low: float = LOW, high: float = HIGH) -> "Line":
        """The line through training pairs; a level one if the similarity never varies."""
        x, y = np.asarray(similarity, dtype=float), np.asarray(scores, dtype=float)
        slope = float(np.cov(x, y, bias=True)[0, 1] / np.var(x)) if np.ptp(x) > 0 else 0.0
        return cls(float(y.mean() - slope * x.mean()), slope, low, high)

    def __call__(self, similarity: float) -> float:
        """The score on the line."""
        return min(max(self.intercept + self.slope * similarity, self.low), self.high)


def fit_rows(benchmark: Benchmark) -> list[int]:
    """The training pairs to fit on: the same whatever is asked."""
    return generator("scale").permutation(len(benchmark.train))[:FIT_PAIRS].tolist()


def jaccard(pair: Pair) -> float:
    """Words in both sentences over words in either.

    >>> jaccard(Pair("A man plays.", "A man sings!"))
    0.5
    """
    first, second = (set(re.findall(r"\w+", text.casefold())) for text in (pair.first, pair.second))
    return len(first & second) / len(first | second) if first | second else 1.0


class Cosines:
    """Cosines of sentence embeddings, kept in a file: none is computed twice."""

    def __init__(self, path: Path, encoder: str):
        self.encoder = encoder
        self._lines = Lines(path)
        self._known = {row["pair"]: row["cosine"] for row in self._lines.rows if row["encoder"] == encoder}

    def __call__(self, pair: Pair) -> float:
        """The cosine of a pair that is known."""
        return self._known[_digest(pair)]

    def learn(
        self, pairs: Sequence[Pair], encode: Callable[[list[str]], np.ndarray], on_progress: Callable[[int, int], None]
    ) -> None:
        """Compute what is missing; `encode` gives unit vectors."""
        missing = {_digest(pair): pair for pair in pairs if _digest(pair) not in self._known}
        # Sentences of like length together, so that little is padded.
        todo = sorted(missing.items(), key=lambda item: len(item[1].first) + len(item[1].second))
        for start in range(0, len(todo), BATCH):
            part = todo[start : start + BATCH]
            vectors = encode([text for _, pair in part for text in (pair.first, pair.second)])
            cosines = (vectors[0::2] * vectors[1::2]).sum(axis=1)
            rows = [
                {"encoder": self.encoder, "pair": digest, "cosine": round(float(cosine), 6)}
                for (digest, _), cosine in zip(part, cosines, strict=True)
            ]
            self._lines.append(rows)
            self._known.update((row["pair"], row["cosine"]) for row in rows)
            on_progress(start + len(part), len(todo))


def _digest(pair: Pair) -> str:
    return hashlib.sha256(f"{pair.first}\n{pair.second}".encode()).hexdigest()[:24]


def load_encoder(folder: Path) -> Callable[[list[str]], np.ndarray]:
    """The sentence encoder of a folder: mean of the last layer's vectors over the words, of length 1."""
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import AutoModel, AutoTokenizer  # pyright: ignore[reportMissingImports]

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()

    def encode(texts: list[str]) -> np.ndarray:
        tokens = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state
        weights = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(1) / weights.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).numpy()

    return encode
