"""What a plan is made of."""

from dataclasses import dataclass, field

from ..graph import Sum, Word
from ._solver import Solver
from ._split import Split, trimmed


@dataclass(frozen=True)
class Strategy:
    """Choices of the planner.

    `hoist`: take out of a loop what it does not change. `both`: a loop may carry a value and its transpose. `eager`:
    products that are needed after a loop are stored before it, where they take fewer columns than their factors.
    `once`: a product that several blocks of a stretch add to something is stored by the first of them. `turned`: a sum
    is computed as it is, and its transpose only ever made by transposing it, so that no two copies can differ.
    """

    hoist: bool = True
    both: bool = False
    eager: bool = False
    once: bool = False
    turned: bool = False


@dataclass(frozen=True)
class Form:
    """A carried value as it is stored: which one, and whether transposed."""

    index: int
    transposed: bool


@dataclass(frozen=True)
class Store:
    """Compute a sum into H: a word, or the value of a loop's form, into the place that the loop has for it."""

    value: Sum
    word: Word | None = None
    slot: "tuple[int, Form] | None" = None


@dataclass
class Stretch:
    """Blocks one after the other, each a list of what it stores; products that the first one stores for the others."""

    blocks: list[list[Store]]
    solver: Solver
    once: frozenset[Word] = frozenset()

    def terms(self, store: Store, block: int) -> list[tuple[Split, float]]:
        """The heads that a store takes in a block, with their coefficients."""
        return terms(self.solver, store, self.once if block > 0 else frozenset())


@dataclass
class PlannedLoop:
    """A loop: its forms in order, the words that take their places over without a copy, and its body."""

    number: int
    forms: list[Form]
    renamed: dict[Form, Word]
    body: "Region"


@dataclass
class Region:
    """A program, or the body of a loop, and what it wants from outside; of a program, how much was searched for it."""

    items: list[Stretch | PlannedLoop] = field(default_factory=list)
    wanted: dict[Word, None] = field(default_factory=dict)
    read_forms: set[Form] = field(default_factory=set)
    searched: int = 0


def terms(solver: Solver, store: Store, once: frozenset[Word] = frozenset()) -> list[tuple[Split, float]]:
    """The heads that a store takes, with their coefficients; words in `once` are read, not computed."""
    value = store.value
    if store.word is not None:
        if solver.transposes(store.word):
            return [(Split((), store.word, ()), 1.0)]
        definition = solver.definition(store.word)
        if definition is None:
            split = solver.base(store.word)[1]
            assert split is not None, "the word is stored already"
            return [(split, 1.0)]
        value = definition
    return [
        (Split(word, (), ()) if word in once else solver.term(word)[1], factor)
        for word, factor in value.words.items()
        if trimmed(word)
    ]
