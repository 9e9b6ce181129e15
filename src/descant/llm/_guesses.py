"""Guesses of a pair's score: what is shown beside it before the model answers.

| guess | at the query | at the demonstrations |
|---|---|---|
| `none` | nothing | nothing |
| `constant` | the middle of the scale | the same |
| `mean` | the mean label of this prompt's demonstrations | the same |
| `random` | uniform on the scale | each its own |
| `shuffled` | the embedding guess of another pair of the split, at random | that of another demonstration here |
| `jaccard` | the share of words in common, on the scale of scores | the same |
| `embedding` | the cosine of sentence embeddings, on the scale of scores | the same |
| `self` | the model's own answer to this prompt without guesses | its answers on the way there |
| `gold` | the label itself | the labels |

Only `gold` is given the query's label; a scene for another guess doesn't hold it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ._draws import generator
from ._pairs import HIGH, LOW


@dataclass(frozen=True)
class Scene:
    """What guesses may be made from. Tuples have an entry for each demonstration and, last, one for the query.

    `labels` are the demonstrations' alone. What a guess doesn't need may be missing. Queries that share their
    demonstrations (`group`) are shown the same guesses beside these.
    """

    seed: int
    query: int
    labels: tuple[float, ...]
    overlap: tuple[float, ...] = ()
    embedding: tuple[float, ...] = ()
    stranger: float = (LOW + HIGH) / 2
    own: tuple[float, ...] = ()
    gold: float | None = None
    group: str = ""
    low: float = LOW
    high: float = HIGH

    @property
    def middle(self) -> float:
        """The middle of the scale."""
        return (self.low + self.high) / 2

    @property
    def shots(self) -> int:
        """How many demonstrations there are."""
        return len(self.labels)


def _constant(scene: Scene) -> tuple[float, ...]:
    return (scene.middle,) * (scene.shots + 1)


def _mean(scene: Scene) -> tuple[float, ...]:
    mean = sum(scene.labels) / scene.shots if scene.labels else scene.middle
    return (mean,) * (scene.shots + 1)


def _random(scene: Scene) -> tuple[float, ...]:
    shown = generator("random guess", scene.seed, scene.group).uniform(scene.low, scene.high, scene.shots)
    asked = generator("random guess of a query", scene.seed, scene.query).uniform(scene.low, scene.high)
    return (*shown.tolist(), float(asked))


def _shuffled(scene: Scene) -> tuple[float, ...]:
    """Demonstrations in a circle, each with the guess of one that is so many places further on."""
    shots = scene.shots
    step = int(generator("shuffled guess", scene.seed, scene.group).integers(1, shots)) if shots > 1 else 0
    # A single demonstration has no other to take from.
    return (*(scene.embedding[(index + step) % shots] for index in range(shots)), scene.stranger)


def _overlap(scene: Scene) -> tuple[float, ...]:
    return scene.overlap


def _embedding(scene: Scene) -> tuple[float, ...]:
    return scene.embedding


def _own(scene: Scene) -> tuple[float, ...]:
    return scene.own


def _gold(scene: Scene) -> tuple[float, ...]:
    if scene.gold is None:
        raise ValueError("the guess 'gold' needs the query's label, and the scene has none.")
    return (*scene.labels, scene.gold)


_MAKERS: dict[str, Callable[[Scene], tuple[float, ...]]] = {
    "constant": _constant,
    "mean": _mean,
    "random": _random,
    "shuffled": _shuffled,
    "jaccard": _overlap,
    "embedding": _embedding,
    "self": _own,
    "gold": _gold,
}
# The names of all guesses that a prompt may hold, `none` first.
GUESSES = ("none", *_MAKERS)
NEED_EMBEDDING = ("shuffled", "embedding")


def guesses(kind: str, scene: Scene) -> tuple[float, ...] | None:
    """The guesses of a kind, the query's last; None if nothing is shown. The query's label is for `gold` alone."""
    if kind == "none":
        return None
    found = _MAKERS[kind](scene if kind == "gold" else replace(scene, gold=None))
    if len(found) != scene.shots + 1:
        raise ValueError(
            f"the guess {kind!r} lacks what it is made from: {len(found)} values for {scene.shots + 1} pairs."
        )
    return found


def check_guesses(names: tuple[str, ...]) -> None:
    """Check a list of guesses that a user asks for."""
    for name in names:
        if name not in GUESSES:
            raise ValueError(f"guess is {name!r}; expected some of: {', '.join(GUESSES)}.")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"guess is {','.join(names)!r}; expected each of them at most once, and one at least.")
