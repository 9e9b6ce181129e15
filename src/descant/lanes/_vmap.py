"""`vmap` over contexts that are small matrices: the same results but for rounding, several times faster."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, jaxprs_in_params
from jaxtyping import Array

from . import _calls, _rules  # noqa: F401 - they say how primitives are evaluated
from ._evaluate import Value, evaluate

# Contexts side by side: enough for long vector loops, few enough for a group of 11 x 11 matrices to stay in a cache.
LANES = 128
# Below so many contexts there is no gain.
FEWEST = 16
# Matrices with more rows or columns than this are multiplied as fast one by one, and so are those from the second on
# whose sides are multiples of eight, which fill vectors by themselves (benchmarks/crossover.py).
LARGEST, EIGHTS = 28, 16


def in_lanes(function: Callable[..., Any], shared: tuple[int, ...] = ()) -> Callable[..., Any]:
    """A function of one context as one of many, which are the last axis of results and of arguments not `shared`.

    >>> one = lambda weights, gram: weights @ gram
    >>> in_lanes(one, shared=(0,))(jnp.ones((3, 3)), jnp.ones((3, 3, 64))).shape
    (3, 3, 64)
    """

    def mapped(*arguments: Any) -> Any:
        own = [index not in shared for index in range(len(arguments))]
        one = [
            jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype), each) if laned else each
            for each, laned in zip(arguments, own, strict=True)
        ]
        program, out = jax.make_jaxpr(function, return_shape=True)(*one)
        values = [
            Value(jnp.asarray(leaf), laned)
            for each, laned in zip(arguments, own, strict=True)
            for leaf in jax.tree.leaves(each)
        ]
        lanes = next(value.array.shape[-1] for value in values if value.laned)
        results = [value.spread(lanes) for value in evaluate(program, values, lanes)]
        return jax.tree.unflatten(jax.tree.structure(out), results)

    return mapped


def vmap(function: Callable[..., Any], in_axes: tuple[int | None, ...] | int = 0) -> Callable[..., Any]:
    """`jax.vmap` over the first axis of the arguments (all of it or, where an axis is None, none of it).

    The function is written for one context. Where its products are of small matrices, contexts are laid out in the last
    axis; where they are not, this is `jax.vmap` itself. Results differ by rounding alone.

    >>> grams = jnp.ones((200, 3, 3))
    >>> vmap(lambda weights, gram: weights @ gram, (None, 0))(jnp.ones((3, 3)), grams).shape
    (200, 3, 3)
    """

    def mapped(*arguments: Any) -> Any:
        axes = (in_axes,) * len(arguments) if isinstance(in_axes, int) else in_axes
        shared = tuple(index for index, axis in enumerate(axes) if axis is None)
        own = [each for index, each in enumerate(arguments) if index not in shared]
        count = jax.tree.leaves(own)[0].shape[0]
        one = [
            each if index in shared else jax.tree.map(lambda leaf: jax.typeof(leaf[0]), each)
            for index, each in enumerate(arguments)
        ]
        if count < FEWEST or not small(jax.make_jaxpr(function)(*one).jaxpr):
            return jax.vmap(function, axes)(*arguments)
        lanes = width(count)
        spread = [
            each if index in shared else jax.tree.map(lambda leaf: laid_out(leaf, lanes), each)
            for index, each in enumerate(arguments)
        ]
        results = jax.vmap(in_lanes(function, shared), axes)(*spread)
        return jax.tree.map(lambda leaf: _one_axis(leaf, count), results)

    return mapped


def of_numbers(function: Callable[[Array], Any], numbers: Array, count: int) -> Any:
    """A function of one context's numbers, on `count` contexts made of numbers that were drawn in a row.

    Numbers of one law may be dealt out in any order, so here they lie as the lanes want them, and none is moved.
    """
    each = numbers.shape[0] // count
    lanes = next((width for width in range(min(count, LANES), 0, -1) if count % width == 0), 1)
    one = jax.ShapeDtypeStruct((each,), numbers.dtype)
    if lanes < FEWEST or not small(jax.make_jaxpr(function)(one).jaxpr):
        return jax.vmap(function)(numbers.reshape(count, each))
    results = jax.vmap(in_lanes(function))(numbers.reshape(-1, each, lanes))
    return jax.tree.map(lambda leaf: _one_axis(leaf, count), results)


def _one_axis(leaf: Array, count: int) -> Array:
    """Contexts from groups and lanes back in the first axis."""
    return jnp.moveaxis(leaf, -1, 1).reshape(-1, *leaf.shape[1:-1])[:count]


def width(count: int) -> int:
    """How many of so many contexts lie side by side: groups are as even as they can be."""
    return -(-count // -(-count // LANES))


def laid_out(leaf: Array, lanes: int) -> Array:
    """Contexts from the first axis as (groups, ..., lanes); the last one is repeated where they don't fill a group."""
    groups = -(-leaf.shape[0] // lanes)
    missing = groups * lanes - leaf.shape[0]
    if missing:
        leaf = jnp.concatenate([leaf, jnp.broadcast_to(leaf[-1:], (missing, *leaf.shape[1:]))])
    return jnp.moveaxis(leaf.reshape(groups, lanes, *leaf.shape[1:]), 1, -1)


def small(program: Jaxpr) -> bool:
    """Whether a program has products of matrices, and none of large ones."""
    largest = max(_sizes(program), default=0)
    return 0 < largest <= LARGEST and (largest < EIGHTS or largest % 8 != 0)


def _shape(variable: Any) -> tuple[int, ...]:
    return variable.aval.shape


def _sizes(program: Jaxpr) -> Iterator[int]:
    """The longest side of every product; a sum of many terms is no matter."""
    for equation in program.eqns:
        if equation.primitive.name == "dot_general":
            yield max((*_shape(equation.outvars[0]), 1))
        for inner in jaxprs_in_params(equation.params):
            yield from _sizes(inner)
