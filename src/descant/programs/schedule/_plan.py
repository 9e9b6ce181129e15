"""Which words are stored when: straight stretches of blocks, and loops between them.

Regions are planned from the innermost loop outwards, because a loop says what it wants to find in H when it begins: the
starts of what it carries, and the words that it does not change. Those are hoisted: the region around it stores them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ..graph import Graph, Loop, Ref, Sum, Word, total
from ._planned import Form, PlannedLoop, Region, Store, Strategy, Stretch
from ._solver import Solver
from ._split import trimmed


class _Overwritten(Exception):
    """A word was needed after a loop had taken its place."""


def plan(graph: Graph, strategy: Strategy) -> Region:
    """Blocks and heads for a whole program, by one strategy: a region, with those of its loops inside."""
    return _Planner(graph, strategy).program()


class _Planner:
    def __init__(self, graph: Graph, strategy: Strategy):
        self.graph, self.strategy = graph, strategy
        self.needed = graph.needed()
        self.copies: set[tuple[int, Form]] = set()
        self.searched = 0

    def program(self) -> Region:
        # A value that is returned twice is stored once.
        values = {self.graph.node_of(value): value for _, value in self.graph.outputs}
        targets = [Store(value, word) for word, value in values.items()]
        while True:
            try:
                return replace(_RegionPlanner(self, None).plan(targets), searched=self.searched)
            except _Overwritten as found:
                # The loop takes a copy instead, and the region is planned again.
                self.copies.add(found.args[0])

    def loops_in(self, number: int | None) -> list[int]:
        """The loops of a region that something depends on."""
        return [
            index
            for index, loop in enumerate(self.graph.loops)
            if loop.parent == number and any(node in self.needed for node in loop.carried)
        ]

    def body(self, number: int) -> tuple[Region, list[Form]]:
        """A loop's body, and the forms in which its values are carried; found by asking until nothing is added."""
        loop = self.graph.loops[number]
        forms = [Form(index, False) for index, node in enumerate(loop.results) if node in self.needed]
        while True:
            targets = [Store(self.next_of(loop, form), slot=(number, form)) for form in forms]
            region = _RegionPlanner(self, number).plan(targets)
            new = sorted(region.read_forms - set(forms), key=lambda form: (form.index, form.transposed))
            if not new:
                return region, forms
            forms += new

    def next_of(self, loop: Loop, form: Form) -> Sum:
        value = loop.nexts[form.index]
        return self.graph.transposed_sum(value) if form.transposed else value


class _RegionPlanner:
    """One region under way."""

    def __init__(self, planner: _Planner, number: int | None):
        self.planner, self.graph, self.number = planner, planner.graph, number
        self.depth = 0 if number is None else self.graph.loops[number].depth
        self.region = Region()
        # Words in H, and whose place a loop has taken over.
        self.stored: dict[Word, None] = {}
        self.overwritten: dict[Word, tuple[int, Form]] = {}
        self.words: list[Word] = []
        if number is None:
            self.stored = {(Ref(node),): None for node in self.graph.inputs.values()}

    def plan(self, targets: list[Store]) -> Region:
        if self.planner.strategy.eager:
            self.words = [word for store in targets for word in self._all_words(store.value)]
        for number in self.planner.loops_in(self.number):
            self._loop(number)
        in_loop = self.number is not None
        self._stretch(targets, final=in_loop)
        return self.region

    def _all_words(self, value: Sum) -> list[Word]:
        """The words of a sum, and those of the sums in it."""
        found, waiting, seen = [], list(value.words), set()
        while waiting:
            word = waiting.pop()
            found.append(word)
            for atom in word:
                if isinstance(atom, Ref) and atom not in seen and self.graph.nodes[atom.node].sum is not None:
                    seen.add(atom)
                    waiting += self.graph.definition(atom).words
        return found

    def available(self, word: Word) -> bool:
        """Whether a word is in H when a stretch begins, or can be asked of the region around."""
        return word in self.stored or self._from_elsewhere(word)

    def _from_elsewhere(self, word: Word) -> bool:
        return self._carried(word) is not None or self._from_outside(word)

    def _carried(self, word: Word) -> Form | None:
        if self.number is None or len(word) != 1 or not isinstance(word[0], Ref):
            return None
        node = self.graph.nodes[word[0].node]
        if node.kind != "carried" or node.loop != self.number:
            return None
        form = Form(node.index, word[0].transposed)
        return form if self.planner.strategy.both or not form.transposed else None

    def _from_outside(self, word: Word) -> bool:
        if self.number is None or self.graph.depth(word) >= self.depth:
            return False
        if not any(isinstance(atom, Ref) for atom in word):
            return False
        return self.planner.strategy.hoist or (len(word) == 1 and not word[0].transposed)  # type: ignore[union-attr]

    def _use(self, word: Word) -> None:
        """Note that a word is read which nothing in this region computes, or whose place is gone."""
        if word in self.overwritten:
            raise _Overwritten(self.overwritten[word])
        if word in self.stored:
            return
        form = self._carried(word)
        if form is not None:
            self.region.read_forms.add(form)
        else:
            self.region.wanted[word] = None

    def _loop(self, number: int) -> None:
        loop = self.graph.loops[number]
        body, forms = self.planner.body(number)
        renamed: dict[Form, Word] = {}
        stores = [self._store(word) for word in body.wanted]
        for form in forms:
            start = loop.starts[form.index]
            start = self.graph.transposed_sum(start) if form.transposed else start
            word = start.single()
            if word is not None and self._may_rename(word, number, form, body, renamed):
                renamed[form] = word
            else:
                stores.append(Store(start, slot=(number, form)))
        if self.planner.strategy.eager:
            known = {store.word for store in stores}
            stores += [self._store(word) for word in self._narrow_runs() if word not in known]
        self._stretch(stores)
        for form, word in renamed.items():
            # Where a word is gone, so is its place; reading it later is found out and mended by a copy.
            self._use(word)
            self.overwritten[word] = (number, form)
        self.region.items.append(PlannedLoop(number, forms, renamed, body))
        for form in forms:
            self.stored[(Ref(loop.results[form.index], form.transposed),)] = None

    def _narrow_runs(self) -> list[Word]:
        """Runs of factors that are in H now, in words of this region, which take fewer columns as a product."""
        found: dict[Word, None] = {}
        for word in self.words:
            run: Word = ()
            for atom in (*word, None):
                if isinstance(atom, Ref) and (Ref(atom.node),) in self.stored:
                    run = (*run, atom)
                    continue
                if len(run) > 1 and self.graph.shape(run)[1] < self._columns(run):
                    found[run] = None
                run = ()
        return list(found)

    def _columns(self, run: Word) -> int:
        nodes = {atom.node for atom in run if isinstance(atom, Ref)}
        return sum(self.graph.nodes[node].shape[1] for node in nodes)

    def _may_rename(self, word: Word, number: int, form: Form, body: Region, renamed: dict[Form, Word]) -> bool:
        here = word in self.stored or self._carried(word) is not None
        free = word not in self.overwritten and word not in body.wanted and word not in renamed.values()
        return here and free and (number, form) not in self.planner.copies

    def _stretch(self, stores: list[Store], final: bool = False) -> None:
        """Plan blocks that end with these stores; in the last stretch of a loop's body there is at least one."""
        # The solver is asked again when heads are made, and must then know what was stored at this moment.
        stored = frozenset(self.stored)
        nodes, targets = self._open_nodes(stores), [store.value for store in stores]
        turned = self.planner.strategy.turned
        solver = Solver(self.graph, lambda word: word in stored or self._from_elsewhere(word), nodes, targets, turned)
        stretch = Stretch([], solver, self._once(solver, nodes, targets))
        wanted: list[Store] = []
        blocks: dict[int, list[Store]] = {}
        for store in stores:
            if store.word is not None and self.available(store.word):
                self._use(store.word)
            else:
                wanted.append(store)
        length = max([int(self._time(solver, store)) for store in wanted], default=0)
        length = max(length, 1 if final else 0)
        scheduled: set[Word] = set()
        waiting: list[Word] = []
        for store in wanted:
            waiting += self._read_by(stretch, store, length - 1)
            blocks.setdefault(length - 1, []).append(store)
            if store.word is not None:
                scheduled.add(store.word)
        # Targets are computed last; what they are made of, as soon as possible.
        while waiting:
            word = waiting.pop()
            if word in scheduled:
                continue
            if self.available(word):
                self._use(word)
                continue
            scheduled.add(word)
            store = self._store(word)
            block = int(self._time(solver, store)) - 1
            blocks.setdefault(block, []).append(store)
            waiting += self._read_by(stretch, store, block)
        for store in self._needed_early(stretch, blocks, length):
            block = int(self._time(solver, store)) - 1
            blocks[length - 1].remove(store)
            blocks.setdefault(block, []).append(store)
            for word in self._read_by(stretch, store, block):
                if self.available(word):
                    self._use(word)
        self.planner.searched += solver.searched
        if length:
            stretch.blocks += [blocks.get(time, []) for time in range(length)]
            self.region.items.append(stretch)
        self.stored |= dict.fromkeys(scheduled)

    def _once(self, solver: Solver, nodes: list[int], targets: list[Sum]) -> frozenset[Word]:
        """Products that can be computed at once and are part of several sums of a stretch."""
        if not self.planner.strategy.once:
            return frozenset()
        sums = [*targets, *(self.graph.definition(Ref(node)) for node in nodes)]
        count = Counter(word for value in sums for word in value.words if len(word) > 1 and isinstance(word[-1], Ref))
        return frozenset(word for word, times in count.items() if times > 1 and solver.base(word)[0] == 1)

    def _open_nodes(self, stores: list[Store]) -> list[int]:
        """The sums that these stores may have to compute: not those behind what is stored, however long ago."""
        found: set[int] = set()
        waiting = [word for store in stores for word in (store.word or (), *store.value.words)]
        while waiting:
            for atom in waiting.pop():
                if not isinstance(atom, Ref) or atom.node in found or self.graph.nodes[atom.node].sum is None:
                    continue
                forms = (Ref(atom.node), Ref(atom.node, True))
                words = [self.graph.definition(form).words for form in forms]
                if any(self.available((form,)) for form in forms) or any(map(self._all_stored, words)):
                    continue
                found.add(atom.node)
                waiting += words[0]
        return sorted(found)

    def _all_stored(self, words: Iterable[Word]) -> bool:
        return all(not trimmed(word) or self.available(trimmed(word)) for word in words)

    def _needed_early(self, stretch: Stretch, blocks: dict[int, list[Store]], length: int) -> list[Store]:
        """Targets in the last block that an earlier or the same block reads: they are computed as soon as possible."""
        last = {store.word: store for store in blocks.get(length - 1, []) if store.word is not None}
        found: dict[Word, Store] = {}
        for block, stores in blocks.items():
            for store in stores:
                for word in self._read_by(stretch, store, block):
                    if word in last and not self.available(word):
                        found[word] = last[word]
        return [store for store in found.values() if self._time(stretch.solver, store) < length]

    def _store(self, word: Word) -> Store:
        return Store(total(self.graph.shape(word), [(word, 1.0)]), word)

    def _time(self, solver: Solver, store: Store) -> float:
        return solver.total(store.value).time if store.word is None else solver.store(store.word).time

    def _read_by(self, stretch: Stretch, store: Store, block: int) -> list[Word]:
        words: list[Word] = []
        for split, _ in stretch.terms(store, block):
            for factor in (split.f, self.graph.transposed(split.g), split.h):
                words += stretch.solver.stored_words(factor)
        return words
