"""What a model answers on contexts: its weight vectors before the first and after each layer, and how they were had."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._final import is_ours
from .._lapack import one_by_one
from .._predictor import AbstractPredictor
from .._unknown import Unknown
from ..attention import AbstractLinearTransformer, ELSABlock, Repeated
from ..estimators import GramAffine
from ..programs import CompiledProgram, ProgramPredictor
from ..tasks import Moments
from ._contexts import Contexts
from ._probing import Linearity, probed
from ._stack import MOST_DIMENSIONS, Stack, States

# Iterates that differ by less than this share of their size are one.
SAME = 1e-13
# Answers whose squared difference is less than this share of their square are the same.
AGREE = 1e-12
# How the vectors of a single layer were had.
MERGED = "its weights"


@dataclass(frozen=True)
class Trace:
    """Weight vectors `w` (S, B, d), what each step between two is called, and how they were had, in words.

    `states` are Theorem 4.1's, of a stack of linear attention; `stack` is that stack without gauge freedom. `merged` is
    the offset and tensor of a single layer. `linearity` says how linear in the query the answer is, where that is not
    known. `start` (d,) is the answer to a context without any token's content, None where it is not a number.
    """

    w: Float[np.ndarray, "S B d"]
    names: tuple[str, ...]
    how: str
    start: Float[np.ndarray, " d"] | None
    stack: Stack | None = None
    states: States | None = None
    merged: GramAffine | None = None
    linearity: Linearity | None = None
    # Whether the vectors in between are iterates of one variable, or answers that could be read there.
    iterates: bool = False
    # Of a stack that is too wide for its layers to be read.
    layers: int | None = None

    @property
    def answer(self) -> Float[np.ndarray, "B d"]:
        """After the last layer."""
        return self.w[-1]

    @property
    def depth(self) -> int:
        """Steps."""
        return len(self.w) - 1

    @property
    def steps(self) -> int | None:
        """How many steps the model takes itself; None if that is not known."""
        return self.depth if self.stack is not None or (self.iterates and self.depth > 1) else self.layers


def needs_tokens(model: Any) -> bool:
    """Whether a model is read on tokens: one that is not linear in the query, or reads them one by one."""
    return isinstance(model, CompiledProgram) or not model.linear


def traced(model: AbstractPredictor | CompiledProgram, contexts: Contexts) -> Trace:
    """Read a model on contexts, layer by layer where it has layers that are known."""
    # A model that overflows is told to diverge, in a sentence.
    with np.errstate(over="ignore", invalid="ignore"):
        return _traced(model, contexts)


def _traced(model: AbstractPredictor | CompiledProgram, contexts: Contexts) -> Trace:
    if isinstance(model, CompiledProgram):
        return _of_program(model, contexts)
    if isinstance(model, AbstractLinearTransformer) and contexts.d <= MOST_DIMENSIONS:
        model.check_inputs(contexts.d)
        found = _of_stack(model, contexts)
        if found is not None:
            return found
    if model.linear:
        return _of_weights(model, contexts)
    answers, start, linearity = probed(model, contexts)
    first = np.zeros_like(answers) if start is None else np.broadcast_to(start, answers.shape)
    return Trace(np.stack([first, answers]), ("the network",), "its answers to many queries", start, None, None, None,
                 linearity)  # fmt: skip


def _of_stack(model: AbstractLinearTransformer, contexts: Contexts) -> Trace | None:
    """Layers without gauge freedom, if they answer as the model does; with writes that nobody reads, if only so."""
    answers = weights_on(model, contexts)
    for projected in (True, False):
        stack = Stack.of(model, contexts.d, projected=projected)
        states = stack.states(contexts)
        if _agree(states.w[-1], answers):
            names = tuple(f"layer {layer + 1}" for layer in range(stack.layers))
            w = np.concatenate([states.w[:-1], answers[None]])
            return Trace(w, names, "its layers' weights", np.zeros(contexts.d), stack, states)
    return None


def _agree(one: Float[np.ndarray, "B d"], other: Float[np.ndarray, "B d"]) -> bool:
    """Whether answers are the same to rounding wherever both are numbers."""
    with np.errstate(all="ignore"):
        size, off = (other**2).sum(axis=1), ((one - other) ** 2).sum(axis=1)
        both = np.isfinite(size) & np.isfinite(off)
        return not both.any() or bool((off <= AGREE * np.maximum(size, np.median(size[both])))[both].all())


def _of_weights(model: AbstractPredictor, contexts: Contexts) -> Trace:
    answers = weights_on(model, contexts)
    empty = np.asarray(_weights(model, jnp.zeros((1, *contexts.gram.shape[1:])), jnp.ones(1), contexts.n)[0], float)
    start = empty if np.isfinite(empty).all() else None
    merged = None
    with suppress(Unknown):
        offset, tensor, masked = model.gram_affine(contexts.d, contexts.n)
        if masked:
            merged = GramAffine(offset, (tensor + np.swapaxes(tensor, 1, 2)) / 2)
            start = np.asarray(merged.offset, float)
    first = np.zeros_like(answers) if start is None else np.broadcast_to(start, answers.shape)
    name = "the layer" if merged is not None else "the model"
    layers = model.layers if isinstance(model, AbstractLinearTransformer) else None
    how = MERGED if merged is not None else "its weight vectors"
    return Trace(np.stack([first, answers]), (name,), how, start, merged=merged, layers=layers)


def weights_on(model: AbstractPredictor, contexts: Contexts) -> Float[np.ndarray, "B d"]:
    """The weight vectors of a predictor that is linear in the query."""
    gram = jnp.asarray(contexts.gram)
    sigma = jnp.zeros(contexts.count) if contexts.sigma is None else jnp.asarray(contexts.sigma)
    return np.asarray(_weights(model, gram, sigma, contexts.n), float)


@eqx.filter_jit
def _weights(model: AbstractPredictor, gram: Any, sigma: Any, n: int) -> Any:
    arrays, static = eqx.partition(model, eqx.is_array)

    def one(gram, sigma):
        return eqx.combine(arrays, static).weights(Moments(gram, n, None, sigma))

    return jax.vmap(one if is_ours(type(model)) else lambda *each: one_by_one(one, *each))(gram, sigma)


def _of_program(compiled: CompiledProgram, contexts: Contexts) -> Trace:
    """Iterates of the program's answer: the value of that name after every block that has it."""
    predictor = ProgramPredictor.of(compiled)
    description, d = compiled.description, contexts.d
    prompts = contexts.prompts
    x, y = np.asarray(prompts.x), np.asarray(prompts.y)
    name = next(each.name for each in description.outputs if each.column == predictor.column)
    queried = predictor.answer == "prediction"
    # A program that reads the query is asked d of them, the unit vectors: it is linear in it, or found not to be.
    queries = np.eye(d) if queried else np.zeros((1, d))
    found = []
    for query in queries:
        h = _embedded(predictor, x, y, query)
        found.append(list(_iterates(compiled, h, name, predictor.column, 1 if queried else d)))
    columns = [np.stack(each, axis=-1)[:, 0] if queried else each[0] for each in zip(*found, strict=True)]
    linearity = probed(predictor, contexts)[2] if queried else None
    w = [np.zeros((contexts.count, d)), *columns]
    kept = [0] + [i for i in range(1, len(w)) if _differ(w[i], w[i - 1])]
    if kept[-1] != len(w) - 1:
        w[kept[-1]] = w[-1]
    names = tuple(f"iteration {index + 1}" for index in range(len(kept) - 1))
    start = _program_start(predictor, compiled, x, y, queries, name)
    return Trace(np.stack([w[i] for i in kept]), names, f"its blocks, where {name} is written", start,
                 linearity=linearity, iterates=True)  # fmt: skip


def _program_start(
    predictor: ProgramPredictor, compiled: CompiledProgram, x: np.ndarray, y: np.ndarray, queries: np.ndarray, name: str
) -> np.ndarray | None:
    """The answer to a context of zeros."""
    rows, ends = 1 if predictor.answer == "prediction" else x.shape[2], []
    for query in queries:
        h = _embedded(predictor, np.zeros_like(x[:1]), np.zeros_like(y[:1]), query)
        *_, last = _iterates(compiled, h, name, predictor.column, rows)
        ends.append(last[0])
    start = np.concatenate(ends)
    return start if np.isfinite(start).all() else None


def _embedded(predictor: ProgramPredictor, x: np.ndarray, y: np.ndarray, query: np.ndarray) -> np.ndarray:
    h = np.zeros((len(x), predictor.rows, predictor.network.blocks[0].columns))
    column = np.broadcast_to(query[None, None, :] if predictor.query_row else query[None, :, None],
                             (len(x), *((1, len(query)) if predictor.query_row else (len(query), 1))))  # fmt: skip
    for role, place in predictor.inputs:
        value = {"inputs": x, "labels": y[:, :, None], "query": column}[role]
        h[:, : value.shape[1], place : place + value.shape[2]] = value
    return h


def _iterates(compiled: CompiledProgram, h: np.ndarray, name: str, column: int, rows: int) -> Iterator[np.ndarray]:
    """The named value after each block that has it, context by context; the answer last, from its column."""
    with np.errstate(all="ignore"):
        for number, block in _runs(compiled.network.blocks):
            h = _through(block, h)
            for each in compiled.description.blocks[number].after:
                if each.name == name and (each.rows, each.width) == (rows, 1):
                    yield h[:, :rows, each.column]
                    break
    yield h[:, :rows, column]


def _runs(layers: tuple[Any, ...], first: int = 0) -> Iterator[tuple[int, ELSABlock]]:
    """Every block as often as it runs, with its number among the different ones."""
    for layer in layers:
        if isinstance(layer, ELSABlock):
            yield first, layer
            first += 1
        else:
            for _ in range(layer.count):
                yield from _runs(layer.blocks, first)
            first += _different(layer.blocks)


def _different(layers: tuple[ELSABlock | Repeated, ...]) -> int:
    return sum(1 if isinstance(each, ELSABlock) else _different(each.blocks) for each in layers)


def _through(block: ELSABlock, h: np.ndarray) -> np.ndarray:
    parts = ((block.w1, block.b1), (block.w2, block.b2), (block.w3, block.b3))
    found = np.zeros_like(h)
    for head in range(block.heads):
        key, value, query = (
            h @ np.asarray(w[head]) + (0.0 if b is None else np.asarray(b[head])) for w, b in parts
        )  # fmt: skip
        found += query @ (key.swapaxes(1, 2) @ value)
    return h + found if block.residual else found


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() > SAME * max(np.abs(one).max(), 1e-300))
