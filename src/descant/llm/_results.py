"""Answers as arrays, for the statistics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Asked:
    """What was asked: which answers of a model belong together.

    `data` is the digest of the data, and `prompts` has those of all prompts, by guess: whatever else was asked in the
    same folder is not taken for an answer. `width` is how wide the scale of scores is.
    """

    model: str
    template: str
    guesses: tuple[str, ...]
    where: str
    shots: int
    together: int
    data: str
    split: str
    queries: tuple[int, ...]
    seeds: int
    width: float
    prompts: dict[str, list[str]]

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "Asked":
        """As it was before it was written."""
        return cls(**{**raw, "guesses": tuple(raw["guesses"]), "queries": tuple(raw["queries"])})


@dataclass(frozen=True)
class Along:
    """Answers at the demonstrations of all prompts, (prompts, shots): column i has i demonstrations before it."""

    answer: np.ndarray
    gold: np.ndarray
    shown: np.ndarray


@dataclass(frozen=True)
class Results:
    """The answers of one model in one setting: arrays (queries, seeds), NaN where there is none.

    `answer` and `shown` are by guess; `shown` is NaN without a guess. `statuses` counts, by guess, how answers ended;
    a prompt that never got one is "unanswered".
    """

    asked: Asked
    gold: np.ndarray
    answer: dict[str, np.ndarray]
    shown: dict[str, np.ndarray]
    mass: dict[str, np.ndarray]
    along: dict[str, Along]
    statuses: dict[str, dict[str, int]]

    @property
    def guesses(self) -> tuple[str, ...]:
        """The guesses that were asked with."""
        return self.asked.guesses

    @property
    def draws(self) -> int:
        """How many draws of demonstrations there are in each seed."""
        return -(-len(self.asked.queries) // self.asked.together)

    @property
    def unanswered(self) -> int:
        """How many prompts never got an answer."""
        return sum(counts.get("unanswered", 0) for counts in self.statuses.values())

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], asked: Asked) -> "Results":
        """The rows of one setting."""
        guesses, queries, seeds = asked.guesses, asked.queries, range(asked.seeds)
        # Not by how many queries share a draw: without demonstrations all do, and the prompt is asked once.
        wanted = {name: getattr(asked, name) for name in ("model", "template", "shots", "data")}
        wanted["place"] = asked.shots
        prompts = {kind: set(asked.prompts[kind]) for kind in guesses}
        at = {(query, seed): (i, j) for i, query in enumerate(queries) for j, seed in enumerate(seeds)}
        shape = (len(queries), len(seeds))
        gold = np.full(shape, np.nan)
        answer, shown, mass = ({kind: np.full(shape, np.nan) for kind in guesses} for _ in range(3))
        latest: dict[str, dict[tuple[int, int], dict[str, Any]]] = {kind: {} for kind in guesses}
        for row in rows:
            kind, place = row["guess"], (row["query"], row["seed"])
            fits = row["where"] in (asked.where, "nowhere") and all(
                row[name] == value for name, value in wanted.items()
            )
            if fits and kind in latest and place in at and row["prompt"] in prompts[kind]:
                latest[kind][place] = row
        for kind, found in latest.items():
            for place, row in found.items():
                index = at[place]
                gold[index] = row["gold"]
                for array, name in ((answer, "answer"), (shown, "shown"), (mass, "mass")):
                    array[kind][index] = np.nan if row[name] is None else row[name]
        return cls(
            asked=asked,
            gold=gold,
            answer=answer,
            shown=shown,
            mass=mass,
            along={kind: _along(_one_of_each(found, asked)) for kind, found in latest.items()},
            statuses={
                kind: _counts(Counter(row["status"] for row in found.values()), shape[0] * shape[1])
                for kind, found in latest.items()
            },
        )


def _one_of_each(found: dict[tuple[int, int], dict[str, Any]], asked: Asked) -> list[dict[str, Any]]:
    """One row for each draw of demonstrations: queries that share them got the same answers on the way."""
    place = {query: index // asked.together for index, query in enumerate(asked.queries)}
    first: dict[tuple[int, int], dict[str, Any]] = {}
    for (query, seed), row in found.items():
        first.setdefault((place[query], seed), row)
    return list(first.values())


def _counts(found: Counter[str], asked: int) -> dict[str, int]:
    missing = asked - found.total()
    return {**dict(found), **({"unanswered": missing} if missing else {})}


def _along(rows: Iterable[dict[str, Any]]) -> Along:
    with_along = [row for row in rows if row.get("along")]
    shots = len(with_along[0]["along"]) if with_along else 0

    def column(name: str) -> np.ndarray:
        values = [row[name] or [None] * shots for row in with_along]
        return np.array([[np.nan if each is None else each for each in value] for value in values]).reshape(
            len(values), shots
        )

    return Along(column("along"), column("along_gold"), column("along_shown"))
