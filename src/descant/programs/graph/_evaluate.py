"""The graph's interpreter: words multiplied out with NumPy, from the left."""

from collections.abc import Mapping

import numpy as np

from ..language import Constant
from ._graph import Graph
from ._words import Ref, Sum, Word


def evaluate_graph(graph: Graph, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What the sums of words of a graph compute from inputs, the outputs in their order."""
    values = {node: np.asarray(inputs[name], dtype=float) for name, node in graph.inputs.items()}
    run = _Run(graph, values)
    return [run.sum(value) for _, value in graph.outputs]


class _Run:
    def __init__(self, graph: Graph, values: dict[int, np.ndarray]):
        self.graph, self.values = graph, values

    def sum(self, value: Sum) -> np.ndarray:
        found = np.zeros(value.shape)
        for word, factor in value.words.items():
            found = found + factor * self.word(word)
        return found

    def word(self, word: Word) -> np.ndarray:
        found = self._atom(word[0])
        for atom in word[1:]:
            found = found @ self._atom(atom)
        return found

    def _atom(self, atom: Ref | Constant) -> np.ndarray:
        if isinstance(atom, Constant):
            return atom.array
        if atom.node not in self.values:
            node = self.graph.nodes[atom.node]
            if node.sum is not None:
                self.values[atom.node] = self.sum(node.sum)
            else:
                self._loop(node.loop)
        value = self.values[atom.node]
        return value.T if atom.transposed else value

    def _loop(self, number: int) -> None:
        loop = self.graph.loops[number]
        carried = [self.sum(start) for start in loop.starts]
        # What changes in the body is forgotten after each iteration.
        outside = {k: v for k, v in self.values.items() if self.graph.nodes[k].depth < loop.depth}
        for _ in range(loop.count):
            inside = _Run(self.graph, {**outside, **dict(zip(loop.carried, carried, strict=True))})
            carried = [inside.sum(value) for value in loop.nexts]
        self.values |= dict(zip(loop.results, carried, strict=True))
