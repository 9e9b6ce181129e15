"""Which pairs are asked for, and which are shown with them.

Every draw has a generator of its own, seeded by what it is for. So more queries, seeds or guesses never change a prompt
that has been asked already, and all guesses see the same queries with the same demonstrations.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from ._pairs import Benchmark


@dataclass(frozen=True)
class Draw:
    """A query, by its row in the split that is asked, and its demonstrations, by their rows in train.

    `group` names those that share the draw: what is random about demonstrations is seeded by it.
    """

    seed: int
    query: int
    demonstrations: tuple[int, ...]
    group: str


def generator(*purpose: object) -> np.random.Generator:
    """Random numbers for a purpose; the same on every machine."""
    text = "/".join(str(part) for part in purpose)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def query_order(benchmark: Benchmark) -> list[int]:
    """All rows that can be asked for, in the order in which they are."""
    return generator("queries", benchmark.split).permutation(len(benchmark.asked)).tolist()


def group_of(place: int, query: int, together: int) -> str:
    """Who shares a draw: the queries that stand together in the order of asking; more queries change no group."""
    return f"{place // together} of {together}" if together > 1 else str(query)


def draw(benchmark: Benchmark, query: int, *, shots: int, seed: int, group: str | None = None) -> Draw:
    """Demonstrations for a query: those of its group, or its own.

    A training pair with the query's two sentences would show its label; such pairs are passed over.
    """
    group = str(query) if group is None else group
    order = generator("demonstrations", seed, group).permutation(len(benchmark.train))
    asked = benchmark.asked[query].pair
    same = {asked.first.casefold(), asked.second.casefold()}
    chosen: list[int] = []
    for row in order.tolist():
        if len(chosen) == shots:
            break
        pair = benchmark.train[row].pair
        if {pair.first.casefold(), pair.second.casefold()} != same:
            chosen.append(row)
    if len(chosen) < shots:
        raise ValueError(f"shots is {shots}; the training file has only {len(chosen)} pairs to show.")
    return Draw(seed, query, tuple(chosen), group)


def stranger(benchmark: Benchmark, query: int, *, seed: int) -> int:
    """Another row of the same split, at random."""
    if len(benchmark.asked) < 2:
        raise ValueError("the file has one pair to ask for; expected two or more: a shuffled guess is another pair's.")
    row = int(generator("stranger", benchmark.split, seed, query).integers(len(benchmark.asked) - 1))
    return row + (row >= query)
