"""How primitives are evaluated on lanes: element by element, on other axes, as products of small matrices."""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.extend.core import JaxprEqn

from ._evaluate import Value, bound, dtype_of, rule
from ._product import product

ELEMENTWISE = (
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp",
    "convert_element_type", "copy", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2",
    "expm1", "floor", "ge", "gt", "integer_pow", "is_finite", "le", "lgamma", "log", "log1p", "logistic", "lt", "max",
    "min", "mul", "ne", "neg", "nextafter", "not", "or", "pow", "reduce_precision", "rem", "round", "rsqrt", "select_n",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square",
    "stop_gradient", "sub", "tan", "tanh", "xor",
)  # fmt: skip
# Those whose axes are numbers in their parameters, which stay what they are.
ALONG_AXES = (
    "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "expand_dims", "reduce_and",
    "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "rev", "split", "squeeze", "unstack",
)  # fmt: skip


def laned(*arrays: jax.Array) -> list[Value]:
    """Results that depend on the context."""
    return [Value(array, True) for array in arrays]


@rule(*ELEMENTWISE)
def _elementwise(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    rank = max(value.rank for value in inputs)
    arrays = []
    for value in inputs:
        if value.rank == rank:
            arrays.append(value.spread(lanes))
        elif value.laned:  # A number per context, beside arrays.
            shape = next(other.array.shape[:rank] for other in inputs if other.rank == rank)
            arrays.append(jnp.broadcast_to(value.array, (*shape, lanes)))
        else:
            arrays.append(value.array)
    return laned(*bound(equation, arrays))


@rule(*ALONG_AXES)
def _along_axes(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    del lanes
    return laned(*bound(equation, [inputs[0].array]))


@rule("optimization_barrier")
def _barrier(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    del lanes
    arrays = bound(equation, [value.array for value in inputs])
    return [value._replace(array=array, turned=None) for value, array in zip(inputs, arrays, strict=True)]


@rule("broadcast_in_dim")
def _broadcast(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    shape, axes = equation.params["shape"], equation.params["broadcast_dimensions"]
    return laned(jax.lax.broadcast_in_dim(inputs[0].array, (*shape, lanes), (*axes, len(shape))))


@rule("reshape")
def _reshape(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value] | None:
    if equation.params.get("dimensions") is not None:
        return None
    return laned(inputs[0].array.reshape(*equation.params["new_sizes"], lanes))


@rule("transpose")
def _transpose(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    del lanes
    order, value = equation.params["permutation"], inputs[0]
    return [Value(value.array.transpose(*order, len(order)), True, value if order == (1, 0) else None)]


@rule("slice")
def _slice(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    starts, limits, strides = (equation.params[name] for name in ("start_indices", "limit_indices", "strides"))
    strides = None if strides is None else (*strides, 1)
    return laned(jax.lax.slice(inputs[0].array, (*starts, 0), (*limits, lanes), strides))


@rule("dynamic_slice")
def _dynamic_slice(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value] | None:
    value, *starts = inputs
    if any(start.laned for start in starts):
        return None
    zero = jnp.zeros((), starts[0].array.dtype if starts else int)
    where = (*(start.array for start in starts), zero)
    return laned(jax.lax.dynamic_slice(value.array, where, (*equation.params["slice_sizes"], lanes)))


@rule("pad")
def _pad(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value] | None:
    if inputs[1].laned:
        return None
    return laned(jax.lax.pad(inputs[0].spread(lanes), inputs[1].array, (*equation.params["padding_config"], (0, 0, 0))))


@rule("concatenate")
def _concatenate(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value]:
    return laned(jax.lax.concatenate([value.spread(lanes) for value in inputs], equation.params["dimension"]))


@rule("dot_general")
def _dot(equation: JaxprEqn, inputs: Sequence[Value], lanes: int) -> list[Value] | None:
    """As one product of matrices: axes of a kind are put together, and taken apart again."""
    del lanes
    terms, batch = equation.params["dimension_numbers"]
    wanted = dtype_of(equation.outvars[0])
    if not jnp.issubdtype(wanted, jnp.floating) or wanted.itemsize < 4 or {v.array.dtype for v in inputs} != {wanted}:
        return None
    if not batch[0] and len(terms[0]) == 1 and all(value.rank == 2 for value in inputs):
        a, flip_a = _unturned(inputs[0], terms[0][0] == 0)
        b, flip_b = _unturned(inputs[1], terms[1][0] == 1)
        return laned(product(a.wide, b.wide, flip_a=flip_a, flip_b=flip_b))
    rows, columns = (
        [axis for axis in range(value.rank) if axis not in own and axis not in shared]
        for value, own, shared in zip(inputs, terms, batch, strict=True)
    )
    a = _matrices(inputs[0], batch[0], rows, terms[0])
    b = _matrices(inputs[1], batch[1], terms[1], columns)
    found = product(a, b)
    sizes = (
        *(inputs[0].array.shape[axis] for axis in (*batch[0], *rows)),
        *(inputs[1].array.shape[axis] for axis in columns),
    )
    return laned(found.reshape(*sizes, found.shape[-1]))


def _unturned(value: Value, flip: bool) -> tuple[Value, bool]:
    """What a transposed matrix is the transpose of, to be read the other way round."""
    return (value, flip) if value.turned is None else (value.turned, not flip)


def _matrices(value: Value, *groups: Sequence[int]) -> jax.Array:
    """Its axes in the order of the groups, the last two of which become one axis each."""
    batch, rows, columns = groups
    shape = value.array.shape
    ordered = value.wide.transpose(*batch, *rows, *columns, value.rank)
    sizes = [math.prod(shape[axis] for axis in group) for group in (rows, columns)]
    return ordered.reshape(*(shape[axis] for axis in batch), *sizes, ordered.shape[-1])
