"""The compiler, from text to weights: its passes in order."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import _check, _memory
from ._collector import uncollected
from ._compiled import CompiledProgram
from ._describe import describe
from ._library import find
from ._network import assemble
from .graph import Graph, Rewriting, build
from .language import Program, Traced, effort
from .schedule import Block, Schedule, Strategy, emit, mixes_generations, plan, unstable_loops, with_lifetimes
from .weights import Layout, block_order, check, lay_out, link


def compile_program(
    program: Program | str | Path,
    settings: Mapping[str, Any] | None = None,
    /,
    *,
    hoist: bool = True,
    prefer: str = "work",
    **more: Any,
) -> CompiledProgram:
    """Compile a program to extended linear self-attention.

    **Arguments:** `program` is a `Program`, the name of one in the library, or the path of a file, which is parsed and
    never executed. `settings`, also by name, binds sizes and scalars: `n=20, d=5, T=10`. `hoist` takes out of loops
    what they do not change. `prefer` says which of the ways that the compiler knows to build a program is the best: the
    one of least `work`, whose blocks have the fewest weights, every run of a block counted; of least `depth`, the
    fewest blocks that are run; of least `width`, the fewest columns of H; or of fewest `parameters`, every block
    counted once.

    **Returns:** a `CompiledProgram`.

    >>> from descant.programs import compile_program
    >>> ridge = compile_program("ridge", n=20, d=5, T=10)
    >>> ridge.sizes.blocks, ridge.sizes.heads
    (11, 22)
    """
    if not isinstance(program, Program):
        program = find(program)
    with uncollected():
        return compile_traced(program.trace(settings, **more), hoist=hoist, prefer=prefer)


def compile_traced(traced: Traced, *, hoist: bool = True, prefer: str = "work") -> CompiledProgram:
    """Compile what a program's `trace` gave; arguments as in `compile_program`."""
    rows, columns = (
        max((each.shape[0] for each in traced.inputs), default=1),
        sum(each.shape[1] for each in traced.inputs),
    )
    # H holds at least the inputs side by side, and a head has three matrices and three biases.
    _memory.need(f"{traced.name} for an H of {rows} x {columns} or more", 20 * columns * (columns + rows), "its sizes")
    return finish(choose(traced, hoist=hoist, prefer=prefer))


@dataclass(frozen=True)
class Candidate:
    """One way to build a program, at every level: its text as traced, its sums of words, its blocks, its columns.

    `searched` says how much was searched to find it.
    """

    traced: Traced
    graph: Graph
    schedule: Schedule
    layout: Layout
    searched: int = 0

    @property
    def columns(self) -> int:
        """How wide H is."""
        return self.layout.columns

    @cached_property
    def blocks(self) -> int:
        """Blocks that are run, repeats counted."""
        return sum(1 for _ in block_order(self.schedule.steps))

    @cached_property
    def parameters(self) -> int:
        """Weights of all blocks, each block counted once, however often it is run."""
        return self._weights(range(len(self._heads)))

    @cached_property
    def work(self) -> int:
        """Weights of all blocks that are run, repeats counted."""
        return self._weights(block_order(self.schedule.steps))

    @cached_property
    def _heads(self) -> list[int]:
        return [heads_of(block, self.columns) for block in self.schedule.blocks()]

    def _weights(self, order: Iterable[int]) -> int:
        per_head = 3 * self.columns * (self.columns + self.layout.rows)
        return per_head * sum(self._heads[index] for index in order)


# What is to be small: first this, then what follows.
PREFERENCES: dict[str, Callable[[Candidate], tuple[int, ...]]] = {
    "work": lambda each: (each.work, each.blocks),
    "depth": lambda each: (each.blocks, each.work),
    "width": lambda each: (each.columns, each.work, each.blocks),
    "parameters": lambda each: (each.parameters, each.work, each.blocks),
}


def candidate(traced: Traced, graph: Graph, strategy: Strategy) -> Candidate:
    """Plan, schedule with lifetimes, layout."""
    planned = plan(graph, strategy)
    schedule = with_lifetimes(emit(graph, planned).flat())
    return Candidate(traced, graph, schedule, lay_out(schedule), planned.searched)


def candidates(traced: Traced, *, hoist: bool = True) -> Iterator[Candidate]:
    """All ways that the compiler knows to build a program; those that change it least come first."""
    none = True
    for variant in traced.variants():
        for found in _candidates(variant, hoist):
            none = False
            yield found
    if none:  # copies are mixed in all of them: then there shall be none
        yield candidate(traced, build(traced, Rewriting(shared=True)), Strategy(hoist=hoist, turned=True))


def _candidates(traced: Traced, hoist: bool) -> Iterator[Candidate]:
    # Long programs are tried in fewer ways, so that the time to compile grows no faster than they do; then values that
    # are computed once matter most.
    left = MOST_HEADS
    rewritings = sorted(REWRITINGS, key=lambda each: not each.shared) if effort(traced.body) > left else REWRITINGS
    graphs: list[Graph] = []
    for strategy in STRATEGIES:
        for graph in graphs or _different(build(traced, rewriting) for rewriting in rewritings):
            if strategy is STRATEGIES[0]:
                graphs.append(graph)
            elif not _applies(strategy, graph):
                continue
            found = candidate(traced, graph, replace(strategy, hoist=hoist))
            if not (unstable_loops(found.schedule) or mixes_generations(found.schedule)):
                yield found
            left -= max(sum(len(block.heads) + 1 for block in found.schedule.blocks()), found.searched // SEARCHED)
            if left < 0:
                return


def _different(graphs: Iterable[Graph]) -> Iterator[Graph]:
    seen: list[Graph] = []
    for graph in graphs:
        if not any(graph.same_as(other) for other in seen):
            seen.append(graph)
            yield graph


def _applies(strategy: Strategy, graph: Graph) -> bool:
    """Whether a strategy may make a difference.

    Copies are compared loop by loop, so they are left alone where each iteration is a loop of its own.
    """
    if strategy.both:
        return bool(graph.loops) and all(loop.count > 1 for loop in graph.loops)
    return bool(graph.loops) or not strategy.eager


# Those that change a program least come first.
STRATEGIES = (
    Strategy(),
    Strategy(once=True),
    Strategy(eager=True),
    Strategy(both=True),
    Strategy(both=True, eager=True),
)
REWRITINGS = (
    Rewriting(),
    Rewriting(expand=True),
    Rewriting(expand=True, everywhere=True, shared=True),
    Rewriting(shared=True),
    Rewriting(expand=True, everywhere=True),
)
# Heads of all the ways that are tried, repeats not counted.
MOST_HEADS = 1500
# What a head takes to be found in most programs, in splits; where products are long, it is far more.
SEARCHED = 250


def choose(traced: Traced, *, hoist: bool = True, prefer: str = "work") -> Candidate:
    """The best candidate among all ways that the compiler knows; ties go to the first.

    **Arguments:** `traced` is a program with its sizes bound, `program.trace(n=20, d=5)`; `hoist` and `prefer` as in
    `compile_program`.

    >>> from descant.programs import find
    >>> choose(find("ridge").trace(n=4, d=2, T=1)).layout.rows
    4
    """
    _check.one_of("prefer", prefer, tuple(PREFERENCES))
    return min(candidates(traced, hoist=hoist), key=PREFERENCES[prefer])


def finish(best: Candidate) -> CompiledProgram:
    """Weights, the proof of their conditions, the network and its description."""
    # The weights, once more for JAX, and what the proof holds of one block.
    _memory.need(f"{best.traced.name} with {best.parameters} weights", 2 * best.parameters, "its sizes")
    weights = link(best.schedule, best.layout)
    check(best.schedule, best.layout, weights)
    return CompiledProgram(assemble(best.schedule.steps, weights), describe(best.traced, best.schedule, best.layout))


def heads_of(block: Block, columns: int) -> int:
    """Heads that a block has when H is this wide."""
    heads = sum(-(-head.slots // columns) for head in block.heads)
    return heads + bool(block.carry or block.kept or not heads)
