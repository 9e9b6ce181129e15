"""From instructions to the graph: names disappear, equal expressions become one, products become words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..language import Body, Constant, Instruction, Interpreter, ProgramError, Traced
from ._bounds import bounded, products, spend
from ._graph import Graph, Loop, Node
from ._words import Ref, Shape, Sum, Word, identity_multiple, is_constant, joined, total, with_constants

# Words longer than this become nodes of their own:
# choosing the order of a product takes the fourth power of its length.
LONGEST_WORD = 9
# How many words two sums may have when they are multiplied out.
MOST_WORDS = 12
# Sums of more words than this become nodes: in a loop that is written out they would grow with every iteration.
LONGEST_SUM = 5


@dataclass(frozen=True)
class Rewriting:
    """How a program is written as sums of words.

    `expand`: small sums in loops are multiplied out, X^T (X w - y) to X^T X w - X^T y, so that what the loop does not
    change can be taken out of it; without, a factor that is a sum stays one value. `everywhere`: outside of loops too,
    where the other factor is a single product, so that it can be computed beside the sum. `shared`: a sum with products
    in it that is read more than once is one value, computed once; without, its words are part of every sum that it is
    added to, which takes fewer blocks and more columns.
    """

    expand: bool = False
    everywhere: bool = False
    shared: bool = False


def build(traced: Traced, rewriting: Rewriting | None = None) -> Graph:
    """The graph of a program."""
    with bounded():
        return _Builder(rewriting or Rewriting()).build(traced)


class _Builder:
    def __init__(self, rewriting: Rewriting):
        self.rewriting, self.graph, self.name = rewriting, Graph(), ""

    def build(self, traced: Traced) -> Graph:
        graph = self.graph
        for each in traced.inputs:
            graph.inputs[each.name] = graph.add(Node("input", each.shape, 0, each.name))
        self.name = traced.name
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with a sentence
            values = self._body(traced.body, [], 0)
        graph.outputs = list(zip(traced.outputs, values, strict=True))
        return graph

    def _body(self, body: Body, parameters: list[Sum], depth: int) -> list[Sum]:
        values: list = []
        uses = Counter([*body.results, *(each for line in body.instructions for each in line.operands)])
        for address, instruction in enumerate(body.instructions):
            operands = [values[address] for address in instruction.operands]
            value = parameters[instruction.attribute] if instruction.op == "parameter" else None
            try:
                if instruction.op == "repeat":
                    values.append(self._loop(instruction, operands, depth))
                    continue
                value = value or self._apply(instruction, operands)
            except ProgramError as error:
                raise error.located(instruction.position, self.name) from None
            self._name(value, instruction.name)
            shared = self.rewriting.shared and uses[address] > 1 and len(value.words) > 1
            if len(value.words) > LONGEST_SUM or (shared and any(len(word) > 1 for word in value.words)):
                value = Sum(value.shape, {self.graph.node_of(value): 1.0})
            values.append(value)
        return [values[address] for address in body.results]

    def _apply(self, instruction: Instruction, operands: list) -> Sum:
        shape, attribute = instruction.shape, instruction.attribute
        match instruction.op:
            case "input":
                return self._reference(self.graph.inputs[attribute], shape)
            case "constant":
                return total(shape, [((attribute,), 1.0)])
            case "add":
                return total(shape, [*operands[0].words.items(), *operands[1].words.items()])
            case "subtract":
                return total(shape, [*operands[0].words.items(), *_scaled(operands[1], -1.0)])
            case "scale":
                return total(shape, _scaled(operands[0], attribute))
            case "transpose":
                return self.graph.transposed_sum(operands[0])
            case "multiply":
                return self._product(operands[0], operands[1])
            case "hstack" | "vstack":
                return self._stacked(shape, operands, instruction.op == "hstack")
            case "slice":
                down, across = _selection(operands[0].shape, attribute)
                return _between(shape, down, operands[0], None if across is None else across.T)
            case "place":
                return _placed(operands[0], operands[1], attribute)
            case "result":
                return operands[0][attribute]
        raise AssertionError(f"no such operation: {instruction.op}")

    def _loop(self, instruction: Instruction, operands: list[Sum], depth: int) -> list[Sum]:
        graph, repeat = self.graph, instruction.attribute
        if all(_is_known(operand) for operand in operands):
            spend("products", repeat.count * products(repeat.body))
            return [_known(array) for array in Interpreter({}).repeated(repeat, list(map(_array, operands)))]
        starts, outside = operands[: repeat.carried], operands[repeat.carried :]
        # Inner loops come before this one in the list, so its number is only known afterwards.
        carried = [
            graph.add(Node("carried", start.shape, depth + 1, name))
            for start, name in zip(starts, repeat.names, strict=True)
        ]
        parameters = [self._reference(node, graph.nodes[node].shape) for node in carried]
        before = len(graph.loops)
        nexts = self._body(repeat.body, parameters + outside, depth + 1)
        number = len(graph.loops)
        for inner in graph.loops[before:]:
            if inner.parent is None:
                inner.parent = number
        results = []
        for index, (node, name) in enumerate(zip(carried, repeat.names, strict=True)):
            shape = graph.nodes[node].shape
            graph.nodes[node] = replace(graph.nodes[node], loop=number, index=index)
            results.append(graph.add(Node("result", shape, depth, name, loop=number, index=index)))
        graph.loops.append(Loop(repeat.count, depth + 1, carried, starts, nexts, results))
        return [self._reference(node, graph.nodes[node].shape) for node in results]

    def _product(self, left: Sum, right: Sum) -> Sum:
        shape = (left.shape[0], right.shape[1])
        if _is_known(left):
            return _between(shape, _array(left), right, None)
        if _is_known(right):
            return _between(shape, None, left, _array(right))
        # c I in a factor is a multiple of the other one: not a part of the product. But a factor that changes in fewer
        # loops than the other stays whole, because it will be stored before the loop as it is.
        depths = self.graph.depth(left), self.graph.depth(right)
        left, first = _without_identity(left) if depths[0] >= depths[1] else (left, 0.0)
        right, second = _without_identity(right) if depths[1] >= depths[0] else (right, 0.0)
        parts = [*self._multiplied(left, right)]
        for multiple, other in ((first, right), (second, left)):
            if multiple:
                parts += _scaled(other, multiple)
        if first * second:
            parts.append(((Constant(first * second * np.eye(shape[0])),), 1.0))
        return total(shape, parts)

    def _multiplied(self, left: Sum, right: Sum) -> Iterable[tuple[Word, float]]:
        longest = max(len(w) for w in left.words) + max(len(w) for w in right.words)
        # Only a factor that a loop changes is multiplied out, with one that it does not change. Multiplying out
        # everything would turn stable recurrences into powers of matrices.
        depths = self.graph.depth(left), self.graph.depth(right)
        small = len(left.words) * len(right.words) <= MOST_WORDS and longest <= LONGEST_WORD
        expand = self.rewriting.expand and small
        outside = self.rewriting.everywhere and small and depths == (0, 0)
        open_left = (expand and depths[0] > depths[1]) or (outside and len(right.words) == 1)
        open_right = (expand and depths[1] > depths[0]) or (outside and len(left.words) == 1)
        lefts = list(left.words.items()) if open_left else [self._factor(left)]
        rights = list(right.words.items()) if open_right else [self._factor(right)]
        if len(lefts) == len(rights) == 1 and len(lefts[0][0]) + len(rights[0][0]) > LONGEST_WORD:
            lefts, rights = ([(self.graph.node_of(side, longest=1), 1.0)] for side in (left, right))
        for word, factor in lefts:
            for other, more in rights:
                found = joined(word, other)
                if found is not None:
                    yield found[0], factor * more * found[1]

    def _factor(self, value: Sum) -> tuple[Word, float]:
        """A sum as one factor of a product: its only word, or a node for it."""
        if len(value.words) == 1:
            return next(iter(value.words.items()))
        return self.graph.node_of(value), 1.0

    def _stacked(self, shape: Shape, operands: list[Sum], side_by_side: bool) -> Sum:
        parts, start = [], 0
        for operand in operands:
            size = operand.shape[1 if side_by_side else 0]
            selection = np.eye(size, shape[1 if side_by_side else 0], start)
            start += size
            placed = _between(
                shape, None if side_by_side else selection.T, operand, selection if side_by_side else None
            )
            parts += placed.words.items()
        return total(shape, parts)

    def _reference(self, node: int, shape: Shape) -> Sum:
        return Sum(shape, {(Ref(node),): 1.0})

    def _name(self, value: Sum, name: str | None) -> None:
        """Remember what the program calls a value, for people to read."""
        word = value.single()
        if name and word is not None and len(word) > 1:
            self.graph.names.setdefault(word, name)
        elif name and word is None and len(value.words) > 0:
            self.graph.sum_names.setdefault(value.key, name)


def _scaled(value: Sum, factor: float) -> list[tuple[Word, float]]:
    return [(word, factor * each) for word, each in value.words.items()]


def _between(shape: Shape, left: np.ndarray | None, value: Sum, right: np.ndarray | None) -> Sum:
    """left @ value @ right, word by word."""
    parts = []
    for word, factor in value.words.items():
        found = with_constants(left, word, right)
        if found is not None:
            parts.append((found[0], factor * found[1]))
    return total(shape, parts)


def _is_known(value: Sum) -> bool:
    return all(is_constant(word) for word in value.words)


def _known(array: np.ndarray) -> Sum:
    return total((array.shape[0], array.shape[1]), [((Constant(array),), 1.0)])


def _selection(shape: Shape, rectangle: tuple[int, int, int, int]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What takes a rectangle's rows, from the left, and transposed its columns, from the right; None takes all."""
    top, bottom, left, right = rectangle
    down = None if bottom - top == shape[0] else np.eye(bottom - top, shape[0], top)
    return down, None if right - left == shape[1] else np.eye(right - left, shape[1], left)


def _placed(value: Sum, part: Sum, rectangle: tuple[int, int, int, int]) -> Sum:
    """A sum with a rectangle replaced: what is outside stays, word by word."""
    (rows, columns), shape = value.shape, value.shape
    down, across = _selection(shape, rectangle)
    if down is not None and across is not None:
        old = _between(shape, _onto(down), value, _onto(across))
        outside = total(shape, [*value.words.items(), *_scaled(old, -1.0)])
    elif down is not None:
        outside = _between(shape, np.eye(rows) - _onto(down), value, None)
    elif across is not None:
        outside = _between(shape, None, value, np.eye(columns) - _onto(across))
    else:
        return part
    inside = _between(shape, None if down is None else down.T, part, across)
    return total(shape, [*outside.words.items(), *inside.words.items()])


def _onto(selection: np.ndarray) -> np.ndarray:
    """What keeps the rows that a selection takes, and clears the others."""
    return selection.T @ selection


def _array(value: Sum) -> np.ndarray:
    constant = value.constant
    return np.zeros(value.shape) if constant is None else constant


def _without_identity(value: Sum) -> tuple[Sum, float]:
    """A sum without the multiple of the identity in it, and that multiple."""
    constant = value.constant
    multiple = None if constant is None else identity_multiple(constant)
    return (value, 0.0) if multiple is None else (value.without_constant(), multiple)
