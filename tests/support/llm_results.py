"""Results of models that are known, because they were made up: answer = a mixture of guess, label and noise."""

import numpy as np

from descant.llm import Asked, Results, Study
from descant.llm._results import Along

QUERIES, SEEDS, SHOTS = 200, 2, 4
KINDS = ("none", "random", "shuffled", "jaccard", "embedding", "gold")
QUALITY = {"random": None, "shuffled": None, "jaccard": 1.3, "embedding": 1.0, "gold": 0.0}


def made_up(
    copies: float,
    knows: float,
    *,
    noise: float = 0.3,
    without: float = 0.0,
    noise_without: float = 0.3,
    queries: int = QUERIES,
) -> Study:
    """A model that copies so much of a guess and knows so much of the label (`without`: with no guess)."""
    random = np.random.default_rng(11)
    gold = np.repeat(random.uniform(0, 5, (queries, 1)), SEEDS, axis=1)

    def guess(kind: str, labels: np.ndarray) -> np.ndarray:
        spread = QUALITY[kind]
        return (
            random.uniform(0, 5, labels.shape)
            if spread is None
            else labels + spread * random.standard_normal(labels.shape)
        )

    def answer(shown: np.ndarray | None, labels: np.ndarray) -> np.ndarray:
        heard = (noise_without if shown is None else noise) * random.standard_normal(labels.shape)
        if shown is None:
            return without * labels + (1 - without) * 2.5 + heard
        return copies * shown + knows * labels + (1 - copies - knows) * 2.5 + heard

    shown = {kind: np.full_like(gold, np.nan) if kind == "none" else guess(kind, gold) for kind in KINDS}
    answers = {kind: answer(None if kind == "none" else shown[kind], gold) for kind in KINDS}
    along = {}
    for kind in KINDS:
        labels = random.uniform(0, 5, (queries * SEEDS, SHOTS))
        seen = np.full_like(labels, np.nan) if kind == "none" else guess(kind, labels)
        along[kind] = Along(answer(None if kind == "none" else seen, labels), labels, seen)
    asked = Asked("made-up", "terse@0", KINDS, "all", SHOTS, 1, "data", "test", tuple(range(queries)), SEEDS, 5.0, {})
    mass = {kind: np.full_like(gold, 0.9) for kind in KINDS}
    return Study.of(Results(asked, gold, answers, shown, mass, along, {kind: {"ok": gold.size} for kind in KINDS}))
