"""A compiled program whose numbers are free: what a trainer moves, in units of what they do to the answer."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from ... import _check
from ..._predictor import AbstractPredictor
from ...tasks import AbstractTask, Prompt
from .._compiled import CompiledProgram
from .._network import flat_blocks
from ..decompile import recover
from ..weights import NAMES
from ._numbers import ALL, COEFFICIENTS, FREE, Number, numbers
from ._predictor import ProgramPredictor
from ._unroll import block_labels, unrolled

# Prompts that tell how much each number does to the answer.
LOOKED_AT = 256


class FreeProgram(AbstractPredictor):
    """A program on prompts, with numbers that can be trained: only `moved` is, and it starts at zero.

    Number k adds `moved[k]` times `scale` to the weights of the network that it stands in, which are those at `index`
    of all weights in a row; `which` says to which number each of them belongs. A scale is such that a move of 1 changes
    the answer by about as much as labels are large. `free` is what may move, `labels` are names of the blocks.
    """

    compiled: CompiledProgram
    moved: Float[Array, " p"]
    index: Int[Array, " m"]
    which: Int[Array, " m"]
    scale: Float[Array, " m"]
    free: str = eqx.field(static=True)
    labels: tuple[str, ...] = eqx.field(static=True)

    def settled(self) -> CompiledProgram:
        """The compiled program with its numbers where they were moved to; nothing moved is the same bits."""
        fixed, which, scale = jax.lax.stop_gradient((self.compiled.network, self.which, self.scale))
        flat, back = ravel_pytree(fixed)
        network = back(flat.at[self.index].add(self.moved[which] * scale))
        return eqx.tree_at(lambda compiled: compiled.network, self.compiled, network)

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """The answer of the program as it is now."""
        return ProgramPredictor.of(self.settled())(prompt)


def free_program(
    compiled: CompiledProgram, task: AbstractTask, free: str = COEFFICIENTS, *, tied: bool = False
) -> FreeProgram:
    """A compiled program as the start of a training on a task.

    **Arguments:** `compiled` takes X (n × d), y (n × 1) and maybe the query, for the n and d of the task, and returns
    weights or a prediction (see `ProgramPredictor.of`). `free` is `coefficients` (one number per term of the program:
    step sizes, shrinkages; zeros stay zeros), `matrices` (in their place whole matrices, and factors that are the
    identity too: preconditioners) or `all` weights. Iterations of a loop get numbers of their own unless `tied`.

    >>> import jax
    >>> from descant import LinearRegression
    >>> from descant.programs import compile_program, free_program
    >>> task = LinearRegression(d=2, n=6)
    >>> start = free_program(compile_program("ridge", n=6, d=2, T=3), task)
    >>> start.moved.shape  # three coefficients in each of three iterations
    (9,)
    """
    _check.one_of("free", free, FREE)
    ProgramPredictor.of(compiled)
    compiled, labels = (compiled if tied else unrolled(compiled)), block_labels(compiled, tied=tied)
    _check_sizes(compiled, task)
    if free == ALL:
        groups = [(np.array([each]), np.ones(1)) for each in range(ravel_pytree(compiled.network)[0].size)]
    else:
        groups = _groups(compiled, chosen(numbers(recover(compiled)), free), free == COEFFICIENTS)
    start = FreeProgram(
        compiled,
        jnp.zeros(len(groups)),
        jnp.asarray(np.concatenate([index for index, _ in groups])),
        jnp.asarray(np.repeat(np.arange(len(groups)), [len(index) for index, _ in groups])),
        jnp.asarray(np.concatenate([pattern for _, pattern in groups])),
        free,
        labels,
    )
    scales = _scales(start, task, alone=free != ALL)
    return eqx.tree_at(lambda model: model.scale, start, start.scale * scales[start.which])


def chosen(found: list[Number], free: str) -> list[Number]:
    """Those that are free; a `ValueError` if there is none."""
    some = [each for each in found if free != COEFFICIENTS or not each.matrix]
    if not some:
        raise ValueError("the program has no number that could be trained; free its matrices (--free matrices).")
    return some


def _groups(compiled: CompiledProgram, found: list[Number], together: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Which weights, counted in a row, are moved by one number, and in which proportion."""
    first, firsts = 0, []
    for block in flat_blocks(compiled.network.blocks):
        firsts.append({})
        for name in NAMES:
            array: Any = getattr(block, name)
            firsts[-1][name] = first, array.shape
            first += array.size
    groups = []
    for each in found:
        begin, shape = firsts[each.block][each.array]
        rows, columns = np.indices(each.start.shape)
        inside = (np.full_like(rows, each.head), rows + each.row, columns + each.column)
        index = begin + np.ravel_multi_index(inside, shape)
        if together:
            kept = each.start != 0
            groups.append((index[kept], each.start[kept] / coefficient(each.start)))
        else:
            groups += [(np.array([one]), np.ones(1)) for one in index.ravel()]
    return groups


def coefficient(array: np.ndarray) -> float:
    """The one number of a term: its largest entry."""
    return float(array.flat[np.argmax(np.abs(array))])


def _scales(start: FreeProgram, task: AbstractTask, *, alone: bool) -> Float[Array, " p"]:
    """By how much each number must move for the answer to change by the size of a label, alone or with all others."""

    def answer(moved, prompt):
        return eqx.tree_at(lambda model: model.moved, start, moved)(prompt)

    prompts = jax.vmap(lambda key: task.sample(key=key))(jax.random.split(jax.random.key(0), LOOKED_AT))
    slopes = jax.jit(jax.vmap(jax.grad(answer), (None, 0)))(start.moved, prompts)
    # Answers are polynomials of high degree: the root of a mean square is that of the largest prompts, and careful.
    slope, label = (np.sqrt(np.mean(np.asarray(each) ** 2, axis=0)) for each in (slopes, prompts.y.ravel()))
    if not np.isfinite(slope).all():
        raise OverflowError("the program overflows on this task's prompts; start from smaller step sizes.")
    if not slope.any():
        raise ValueError("no number of the program changes its answer on this task; start from other settings.")
    if not alone:
        return jnp.full(slope.shape, label / slope.sum())
    # What does nothing yet moves as carefully as the one that does most.
    return jnp.asarray(label / np.where(slope > 0, slope, slope.max()))


def _check_sizes(compiled: CompiledProgram, task: AbstractTask) -> None:
    each = next(each for each in compiled.description.inputs if each.name.lower() == "x")
    if (each.rows, each.width) != (task.n, task.d):
        raise ValueError(
            f"{compiled.description.program} was compiled for n = {each.rows} and d = {each.width}; the task has "
            f"n = {task.n} and d = {task.d}: compile it for these."
        )
