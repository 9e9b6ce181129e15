"""Nodes and loops that words refer to; equal sums are one node."""

from dataclasses import dataclass, field

import numpy as np

from ..language import Constant
from ._bounds import made
from ._words import Atom, Ref, Shape, Sum, Word, is_constant, total


@dataclass(frozen=True)
class Node:
    """A value that words refer to: an input, a value that a loop carries, a loop's result, or a sum of words.

    `depth` counts the loops that it changes in: a node of depth 0 can be had before any loop begins.
    """

    kind: str
    shape: Shape
    depth: int
    name: str
    sum: Sum | None = None
    loop: int = -1
    index: int = -1
    symmetric: bool = False


@dataclass
class Loop:
    """A repeat: where each carried value starts, and what it becomes.

    `depth` is that of its body, `parent` the loop that it stands in, None for none.
    """

    count: int
    depth: int
    carried: list[int]
    starts: list[Sum]
    nexts: list[Sum]
    results: list[int]
    parent: int | None = None


@dataclass
class Graph:
    """A program as nodes, loops in program order (inner ones before the loop they stand in), and outputs."""

    inputs: dict[str, int] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    outputs: list[tuple[str, Sum]] = field(default_factory=list)
    names: dict[Word, str] = field(default_factory=dict)
    sum_names: dict[tuple, str] = field(default_factory=dict)
    _sums: dict[tuple, Ref] = field(default_factory=dict)
    _flipped: dict[Word, Word] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        """Add a node; its index."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def shape(self, word: Word) -> Shape:
        """Rows and columns of a product."""
        return self._atom_shape(word[0])[0], self._atom_shape(word[-1])[1]

    def _atom_shape(self, atom: Atom) -> Shape:
        if isinstance(atom, Constant):
            return atom.array.shape  # type: ignore[return-value]
        shape = self.nodes[atom.node].shape
        return (shape[1], shape[0]) if atom.transposed else shape

    def depth(self, words: "Word | Sum") -> int:
        """The number of loops inside of which a word, or a sum of them, changes."""
        if isinstance(words, Sum):
            return max((self.depth(word) for word in words.words), default=0)
        return max((self.nodes[atom.node].depth for atom in words if isinstance(atom, Ref)), default=0)

    def transposed(self, value: Word) -> Word:
        """The transpose of a word."""
        found = self._flipped.get(value)
        if found is None:
            found = self._flipped[value] = tuple(self._transposed_atom(atom) for atom in reversed(value))
        return found

    def _transposed_atom(self, atom: Atom) -> Atom:
        if isinstance(atom, Constant):
            made(*atom.array.shape)
            return Constant(np.ascontiguousarray(atom.array.T))
        return atom if self.nodes[atom.node].symmetric else Ref(atom.node, not atom.transposed)

    def transposed_sum(self, value: Sum) -> Sum:
        """The transpose of a sum."""
        rows, columns = value.shape
        return total((columns, rows), ((self.transposed(word), f) for word, f in value.words.items()))

    def definition(self, ref: Ref) -> Sum:
        """The words of a sum node, or of its transpose."""
        found = self.nodes[ref.node].sum
        assert found is not None
        return self.transposed_sum(found) if ref.transposed else found

    def node_of(self, value: Sum, longest: int = 10**6) -> Word:
        """A word that stands for a sum: its only word, unless that is too long, or a node.

        Equal sums, and transposes of each other, share a node.
        """
        single = value.single()
        if single is not None and len(single) <= longest and not is_constant(single):
            return single
        found = self._sums.get(value.key)
        if found is None:
            flipped = self.transposed_sum(value)
            name = self.sum_names.get(value.key, "")
            symmetric = flipped.key == value.key
            index = self.add(Node("sum", value.shape, self.depth(value), name, value, symmetric=symmetric))
            found = self._sums[value.key] = Ref(index)
            self._sums.setdefault(flipped.key, Ref(index, True))
        return (found,)

    def same_as(self, other: "Graph") -> bool:
        """Whether both came out the same."""
        return (self.nodes, self.loops, self.outputs) == (other.nodes, other.loops, other.outputs)

    def needed(self) -> set[int]:
        """The nodes that the outputs depend on, through loops too."""
        found: set[int] = set()
        waiting = [word for _, value in self.outputs for word in value.words]
        while waiting:
            for atom in waiting.pop():
                if isinstance(atom, Constant) or atom.node in found:
                    continue
                found.add(atom.node)
                node = self.nodes[atom.node]
                if node.sum is not None:
                    waiting += node.sum.words
                elif node.kind == "result":
                    waiting.append((Ref(self.loops[node.loop].carried[node.index]),))
                elif node.kind == "carried":
                    loop = self.loops[node.loop]
                    waiting += [*loop.starts[node.index].words, *loop.nexts[node.index].words]
        return found
