"""In how few blocks a word can be had, and by which heads.

One head computes f g h, where f and h are read from H as they are stored, and g as the transpose of what is stored: the
eight monomials of extended linear self-attention are this one form with none, some or all of the three constant. A
factor is read directly if it is stored, possibly times a constant on its right, or if it is a sum of such. Everything
else must be stored first, a block earlier. So the order of a product, and which transposes are stored, come out of one
recursion over sub-words.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable

from ..graph import Graph, Ref, Sum, Word
from ..language import Constant
from ._split import FREE, NEVER, Price, Split, trimmed

# In units of one column of H; what decides is the number of blocks, this only breaks ties.
HEAD_COST = 5.0
# A sum that would be read from more places than this is stored instead:
# in a long chain of sums nothing would ever be free.
MOST_PLACES = 6


class Solver:
    """Prices of words, given what is stored when the first block begins.

    With `turned` every sum that is read is stored, as it is first, and its transpose is made of that.
    """

    def __init__(
        self,
        graph: Graph,
        stored: Callable[[Word], bool],
        nodes: list[int],
        targets: Iterable[Sum] = (),
        turned: bool = False,
    ):
        self.graph, self.stored, self.turned = graph, stored, turned
        self._common = self._runs([*targets, *(graph.definition(Ref(node)) for node in nodes)])
        self._base: dict[Word, tuple[float, Split | None]] = {}
        self._term: dict[Word, tuple[Price, Split]] = {}
        self._read: dict[Word, Price] = {}
        self._ready: dict[Word, bool] = {}
        self._stored_words: dict[Word, tuple[Word, ...]] = {}
        # How much was searched, about: so many splits were looked at.
        self.searched = 0
        # Nodes in order, so that a long chain of them is no deep recursion.
        for node in nodes:
            if graph.nodes[node].sum is not None:
                for word in ((Ref(node),), graph.transposed((Ref(node),))):
                    self.store(word)

    def store(self, word: Word) -> Price:
        """When a word can be in H, computed or transposed; its columns, and if it isn't there yet, again and a head."""
        time, width = self.base(word)[0], self._width(word)
        time = min(time, self._transposition(word)) if time > 1 else time
        if self.stored(word):
            return Price(time, width)
        # What several products have in common is computed once for all of them.
        return Price(time, width + (width + HEAD_COST) / self._common.get(word, 1))

    def _runs(self, sums: list[Sum]) -> dict[Word, int]:
        """How many words of these sums have a run of factors in them, as it is or transposed; of those that many do."""
        count: Counter[Word] = Counter()
        for word in {word for value in sums for word in value.words}:
            for i in range(len(word)):
                for j in range(i + 2, len(word) + 1):
                    run = word[i:j]
                    count.update({run, self.graph.transposed(run)})
        return {run: times for run, times in count.items() if times > 1}

    def transposes(self, word: Word) -> bool:
        """Whether a word is best had by transposing its transpose: never if it takes one block itself."""
        time = self.base(word)[0]
        return time > 1 and self._transposition(word) < time

    def _transposition(self, word: Word) -> float:
        return self.base(self.graph.transposed(word))[0] + 1

    def base(self, word: Word) -> tuple[float, Split | None]:
        """When a word can be in H, but not by transposing it as a whole; and by which split, if by one."""
        if word not in self._base:
            self._base[word] = self._computed(word)
        return self._base[word]

    def _computed(self, word: Word) -> tuple[float, Split | None]:
        if self.stored(word):
            return 0, None
        if len(word) == 1:
            if self.stored(self.graph.transposed(word)):
                return math.inf, None  # transposing it is one head; its definition may reach far back
            definition = self.definition(word)
            if definition is None or (self.turned and word[0].transposed):  # type: ignore[union-attr]
                return math.inf, None
            return self.total(definition).time, None
        price, split = self._best(word, whole=False)
        return price.time, split

    def total(self, value: Sum) -> Price:
        """When a sum can be in H, all its words computed in one block."""
        price = Price(1, 0.0)
        for word in value.words:
            price = price.together(self.term(word)[0])
        return price

    def term(self, word: Word) -> tuple[Price, Split]:
        """When a word can be added to something in H, and how."""
        if word not in self._term:
            self._term[word] = self._best(word, whole=True)
        return self._term[word]

    def _best(self, word: Word, whole: bool) -> tuple[Price, Split]:
        """The best split; a word as a whole can be read only where it is not itself what is to be stored."""
        found = (NEVER, Split(word, (), ()))
        if (whole or isinstance(word[-1], Constant)) and self.ready(word):
            found = (_later(self.read(word)), found[1])
        found = self._best_split(word, whole, found, self.ready)
        if found[0].time == 1:
            return found  # other ways take longer, and the search for them may reach far back
        if whole or isinstance(word[-1], Constant):
            found = min(found, (_later(self.read(word)), Split(word, (), ())), key=lambda each: each[0])
        return self._best_split(word, whole, found, lambda _: True)

    def _best_split(
        self, word: Word, whole: bool, found: tuple[Price, Split], may_read: Callable[[Word], bool]
    ) -> tuple[Price, Split]:
        flipped, length = self.graph.transposed(word), len(word)
        self.searched += length**2
        # What is left at the end, by where it begins: it is asked for again and again.
        rest: dict[int, Price | None] = {}
        # Of equal splits the one that reads most as it is stored: the easiest to follow.
        for i in range(length - 1, -1, -1):
            if not may_read(word[:i]):
                continue
            first = self.read(word[:i])
            for j in range(max(i, 1), length + 1):
                if j - i == length and not whole:
                    continue
                if first.time + 1 > found[0].time:
                    break
                middle = flipped[length - j : length - i]
                if not may_read(middle):
                    continue
                if j not in rest:
                    rest[j] = self.read(word[j:]) if may_read(word[j:]) else None
                last = rest[j]
                if last is None:
                    continue
                price = first.together(self.read(middle), last)
                price = Price(price.time + 1, price.cost + HEAD_COST)
                if price < found[0]:
                    found = (price, Split(word[:i], word[i:j], word[j:]))
        return found

    def ready(self, factor: Word) -> bool:
        """Whether a factor can be read when the first block begins."""
        word = trimmed(factor)
        if word not in self._ready:
            self._ready[word] = not word or self.stored(word) or self._all_ready(word)
        return self._ready[word]

    def _all_ready(self, word: Word) -> bool:
        definition = self.definition(word)
        if definition is None:
            return False
        # Of what is there transposed nothing is asked that might reach far back.
        ready = self._here if self.stored(self.graph.transposed(word)) else self.ready
        if not all(map(ready, definition.words)):
            return False
        virtual = self._virtual(word)
        return virtual is not None and virtual.time == 0

    def _here(self, factor: Word) -> bool:
        word = trimmed(factor)
        return not word or self.stored(word)

    def read(self, word: Word) -> Price:
        """When a word can be a factor of a head."""
        found = self._read.get(word)
        if found is None:
            found = self._read[word] = self._priced(trimmed(word))
        return found

    def _priced(self, word: Word) -> Price:
        if not word:
            return FREE
        virtual = None if self.stored(word) else self._virtual(word)
        if virtual is not None and virtual.time == 0:
            return virtual  # needs no other way, and the search for one may reach far back
        return min(self.store(word), virtual or NEVER)

    def is_virtual(self, word: Word) -> bool:
        """Whether a sum is best read term by term, without storing it."""
        virtual = None if self.stored(word) else self._virtual(word)
        return virtual is not None and (virtual.time == 0 or virtual <= self.store(word))

    def _virtual(self, word: Word) -> Price | None:
        definition = self.definition(word)
        if definition is None or self.turned:
            return None
        if self.stored(self.graph.transposed(word)) and not all(map(self._here, definition.words)):
            return None  # transposing it is one head; its definition may reach far back
        price = FREE
        for term in definition.words:
            price = price.together(self.read(term))
        places = {each for term in definition.words for each in self.stored_words(term)}
        return price if len(places) <= MOST_PLACES else None

    def stored_words(self, factor: Word) -> tuple[Word, ...]:
        """The words that must be in H for a factor to be read."""
        word = trimmed(factor)
        if not word:
            return ()
        if word not in self._stored_words:
            found: dict[Word, None] = {word: None}
            if self.is_virtual(word):
                definition = self.definition(word)
                assert definition is not None
                found = {each: None for term in definition.words for each in self.stored_words(term)}
            self._stored_words[word] = tuple(found)
        return self._stored_words[word]

    def definition(self, word: Word) -> Sum | None:
        """The words of a word that is a sum node or its transpose."""
        (atom, *more) = word
        if more or isinstance(atom, Constant) or self.graph.nodes[atom.node].sum is None:
            return None
        return self.graph.definition(atom)

    def _width(self, word: Word) -> float:
        return float(self.graph.shape(word)[1])


def _later(price: Price) -> Price:
    return Price(price.time + 1, price.cost)
