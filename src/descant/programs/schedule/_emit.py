"""From the plan to steps: words become places, splits become heads."""

from collections.abc import Mapping

import numpy as np

from ... import _memory
from ..graph import Graph, Ref, Word
from ..language import Constant
from ._merge import merged
from ._naming import Namer
from ._planned import Form, PlannedLoop, Region, Store, Stretch
from ._solver import Solver
from ._split import Split, trimmed
from ._steps import Block, Head, Loop, Place, Reading, Schedule, Step, Write


def emit(graph: Graph, region: Region) -> Schedule:
    """The whole program on named places; lifetimes are not known yet."""
    return _Emitter(graph).program(region)


class _Emitter:
    def __init__(self, graph: Graph):
        self.graph, self.namer = graph, Namer(graph)
        self.places: list[Place] = []
        self.values: list[int] = []
        self.copies: list[tuple[int, int]] = []

    def program(self, region: Region) -> Schedule:
        graph = self.graph
        scope: dict[Word, int] = {(Ref(node),): self._place((Ref(node),)) for node in graph.inputs.values()}
        inputs = {name: scope[(Ref(node),)] for name, node in graph.inputs.items()}
        steps = self._region(region, scope)
        outputs = [(name, scope[graph.node_of(value)]) for name, value in graph.outputs]
        return Schedule(tuple(self.places), inputs, tuple(outputs), steps, tuple(self.values), tuple(self.copies))

    def _place(self, word: Word, name: str | None = None) -> int:
        number = len(self.places)
        if len(word) == 1:
            self.values.append(number)
        self.places.append(Place(number, name or self.namer.word(word), self.graph.shape(word)))
        return number

    def _region(self, region: Region, scope: dict[Word, int]) -> tuple[Step, ...]:
        steps: list[Step] = []
        waiting: dict[tuple[int, Form], int] = {}
        for item in region.items:
            if isinstance(item, Stretch):
                steps += self._stretch(item, scope, waiting)
            else:
                steps.append(self._loop(item, scope, waiting))
        return tuple(steps)

    def _loop(self, planned: PlannedLoop, scope: dict[Word, int], waiting: dict[tuple[int, Form], int]) -> Loop:
        loop = self.graph.loops[planned.number]
        inside = dict(scope)
        slots: dict[Form, int] = {}
        for form in planned.forms:
            slot = scope[planned.renamed[form]] if form in planned.renamed else waiting[planned.number, form]
            inside[(Ref(loop.carried[form.index], form.transposed),)] = slot
            scope[(Ref(loop.results[form.index], form.transposed),)] = slots[form] = slot
        body = self._region(planned.body, inside)
        both = [index for index in range(len(loop.carried)) if {Form(index, False), Form(index, True)} <= set(slots)]
        copies = tuple((slots[Form(index, False)], slots[Form(index, True)]) for index in both)
        self.copies += [(second, first) for first, second in copies]
        return Loop(loop.count, body, copies=copies)

    def _stretch(self, stretch: Stretch, scope: dict[Word, int], waiting: dict[tuple[int, Form], int]) -> list[Block]:
        blocks = []
        for block, stores in enumerate(stretch.blocks):
            new: dict[Word, int] = {}
            reader = _Reader(self.graph, stretch.solver, scope)
            heads: list[Head] = []
            carry: list[Write] = []
            writes: list[int] = []
            for store in stores:
                place = self._target(store, scope, waiting, new)
                writes.append(place)
                self._store(reader, store, stretch.terms(store, block), place, heads, carry)
            blocks.append(Block(merged(heads), tuple(carry), tuple(writes)))
            scope |= new
        return blocks

    def _target(
        self, store: Store, scope: dict[Word, int], waiting: dict[tuple[int, Form], int], new: dict[Word, int]
    ) -> int:
        if store.word is not None:
            place = new[store.word] = self._place(store.word)
            flipped = self.graph.transposed(store.word)
            if len(store.word) == 1 and flipped != store.word and (flipped in scope or flipped in new):
                self.copies.append((place, new.get(flipped, scope.get(flipped, place))))
            return place
        assert store.slot is not None
        number, form = store.slot
        carried = (Ref(self.graph.loops[number].carried[form.index], form.transposed),)
        if carried in scope:  # the end of the loop's own body
            return scope[carried]
        waiting[number, form] = self._place(carried)
        return waiting[number, form]

    def _store(
        self,
        reader: "_Reader",
        store: Store,
        terms: list[tuple[Split, float]],
        place: int,
        heads: list[Head],
        carry: list[Write],
    ) -> None:
        shape, solver = self.places[place].shape, reader.solver
        direct = Reading(shape)
        constant = _constant_of(solver, store)
        if constant is not None:
            direct = direct + Reading.of_constant(constant)
        for split, factor in terms:
            if split.direct:
                direct = direct + reader.read(split.f).times(factor)
            elif head := reader.head(split, factor, place):
                heads.append(head)
        if direct.terms or direct.constant is not None:
            carry.append(Write(place, direct))


def _constant_of(solver: Solver, store: Store) -> np.ndarray | None:
    if store.word is None:
        return store.value.constant
    definition = None if solver.transposes(store.word) else solver.definition(store.word)
    return None if definition is None else definition.constant


class _Reader:
    """Factors of the heads of one block, from the words that are in H before it."""

    def __init__(self, graph: Graph, solver: Solver, scope: Mapping[Word, int]):
        self.graph, self.solver, self.scope = graph, solver, scope
        self._found: dict[Word, Reading] = {}

    def read(self, factor: Word) -> Reading:
        """A word as H gives it."""
        word, last = trimmed(factor), factor[-1]
        if not word:
            assert isinstance(last, Constant)
            return Reading.of_constant(last.array)
        if word not in self._found:
            self._found[word] = self._word(word)
        return self._found[word].times(last.array) if isinstance(last, Constant) else self._found[word]

    def _word(self, word: Word) -> Reading:
        shape = self.graph.shape(word)
        if not self.solver.is_virtual(word):
            return Reading(shape, ((self.scope[word], np.eye(shape[1])),))
        definition = self.solver.definition(word)
        assert definition is not None
        reading = Reading(shape)
        for term, coefficient in definition.words.items():
            reading = reading + self.read(term).times(coefficient)
        return reading

    def head(self, split: Split, factor: float, place: int) -> Head | None:
        """f g h, with the identity where one of them is empty; None if it is zero."""
        f = self.read(split.f) if split.f else None
        g = self.read(self.graph.transposed(split.g)) if split.g else None
        h = self.read(split.h) if split.h else None
        if f is None:
            assert g is not None
            f = _identity(g.shape[1])
        if g is None:
            assert h is not None
            g = _identity(h.shape[0])
        if h is None:
            h = _identity(g.shape[0])
        f, g = _with_few_slots(f, g)
        # Columns that were put beside a value as zeros add nothing to the product.
        used = f.columns & g.columns
        if not used.any():
            return None
        if not used.all():
            f, g = (part.times(np.eye(len(used))[:, used]) for part in (f, g))
        return Head(f, g, (Write(place, h.times(factor)),))


def _identity(size: int) -> Reading:
    """A factor that is none: beside a long one it may be more than there is memory, with its copies."""
    _memory.need(f"a head with a sum over {size} numbers", 3 * size**2, "the sizes of the program")
    return Reading.of_constant(np.eye(size))


def _with_few_slots(query: Reading, key: Reading) -> tuple[Reading, Reading]:
    """Query times key^T with the fewest columns: a constant moves to the other side if that makes it shorter."""
    if query.is_constant and query.constant is not None and query.shape[0] < query.shape[1]:
        return Reading.of_constant(np.eye(query.shape[0])), key.times(query.constant.T)
    if key.is_constant and key.constant is not None and key.shape[0] < key.shape[1]:
        return query.times(key.constant.T), Reading.of_constant(np.eye(key.shape[0]))
    return query, key
