"""What stored words are called: as the program calls them, or by their own text."""

from ..graph import Graph, Sum, Word
from ..language import Constant

LONGEST = 28
LONGEST_PRODUCT = 80


class Namer:
    """Names for words of one graph."""

    def __init__(self, graph: Graph):
        self.graph = graph
        # Sums stand in sums: without this the same texts would be put together again and again.
        self._words: dict[Word, str] = {}

    def word(self, word: Word) -> str:
        """A short text for a product."""
        if word not in self._words:
            self._words[word] = self._word(word)
        return self._words[word]

    def _word(self, word: Word) -> str:
        if word in self.graph.names:
            return self.graph.names[word]
        flipped = self.graph.transposed(word)
        if flipped in self.graph.names:
            return f"{self.graph.names[flipped]}ᵀ"
        return _short(" ".join(self._atom(atom) for atom in word), LONGEST_PRODUCT)

    def _atom(self, atom) -> str:
        if isinstance(atom, Constant):
            return "C"
        node = self.graph.nodes[atom.node]
        text = node.name or (f"({self.sum(node.sum)})" if node.sum is not None else "?")
        return f"{text}ᵀ" if atom.transposed else text

    def sum(self, value: Sum) -> str:
        """A short text for a sum."""
        text = ""
        for word, factor in value.words.items():
            constant = len(word) == 1 and isinstance(word[0], Constant)
            body = "C" if constant else self.word(word)
            size = "" if abs(factor) == 1 else f"{abs(factor):.3g} "
            sign = ("− " if factor < 0 else "") if not text else (" − " if factor < 0 else " + ")
            text += sign + size + body
        return _short(text or "0", LONGEST)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
