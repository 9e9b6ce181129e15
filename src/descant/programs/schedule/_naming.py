"""What stored words are called: as the program calls them, or by their own text."""

from ..graph import Graph, Sum, Word
from ..language import Constant

LONGEST = 28


class Namer:
    """Names for words of one graph."""

    def __init__(self, graph: Graph):
        self.graph = graph

    def word(self, word: Word) -> str:
        """A short text for a product."""
        if word in self.graph.names:
            return self.graph.names[word]
        flipped = self.graph.transposed(word)
        if flipped in self.graph.names:
            return f"{self.graph.names[flipped]}ᵀ"
        return " ".join(self._atom(atom) for atom in word)

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
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
