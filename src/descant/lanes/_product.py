"""Products of many small matrices whose last axis runs over contexts, as a primitive of JAX.

XLA multiplies batches of 11 x 11 matrices at a tenth of what a CPU can do. Written as an unrolled sum of outer
products, each a loop along the lanes, the same takes an eighth of the time. The primitive is bilinear, and its
derivatives are products of the same kind; a factor that all contexts share gets its derivative by one large product.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

# Terms that are written out; longer sums are loops over stretches of so many.
UNROLLED = 32
# A NaN that no arithmetic makes, as whole numbers of the same size.
NEVER = {4: np.int32(0x7FABCDEF), 8: np.int64(0x7FFABCDEF0123456)}


def product(
    a: Float[Array, "*g i k l"], b: Float[Array, "*h p q m"], *, flip_a: bool = False, flip_b: bool = False
) -> Float[Array, "..."]:
    """a @ b for each lane; aᵀ for a if `flip_a`, bᵀ for b if `flip_b`.

    Leading axes, and the lanes, may be 1 long in one of the two, which all of the other's then share.

    >>> a, b = jnp.ones((2, 3, 8)), jnp.ones((3, 4, 1))
    >>> product(a, b).shape
    (2, 4, 8)
    """
    rank = max(a.ndim, b.ndim)
    a, b = (part.reshape((1,) * (rank - part.ndim) + part.shape) for part in (a, b))
    return _product.bind(a, b, flip_a=flip_a, flip_b=flip_b)


def _sum_of_outer_products(a: Array, b: Array, *, flip_a: bool, flip_b: bool) -> Array:
    terms_a, terms_b = (a.ndim - 3 if flip_a else a.ndim - 2), (b.ndim - 2 if flip_b else b.ndim - 3)
    terms = a.shape[terms_a]

    def written_out(a: Array, b: Array) -> Array:
        column, row = (
            lambda part, axis, k, grown=grown: jnp.expand_dims(
                jax.lax.index_in_dim(part, k, axis, keepdims=False), grown
            )
            for grown in (-2, -3)
        )
        parts = [column(a, terms_a, k) * row(b, terms_b, k) for k in range(a.shape[terms_a])]
        return sum(parts[1:], parts[0])

    if terms <= UNROLLED:
        return written_out(a, b)

    def stretch(total: Array, start: Array) -> tuple[Array, None]:
        own = (jax.lax.dynamic_slice_in_dim(part, start, UNROLLED, axis) for part, axis in ((a, terms_a), (b, terms_b)))
        return total + written_out(*own), None

    whole = terms - terms % UNROLLED
    out = jax.eval_shape(written_out, a, b)
    total, _ = jax.lax.scan(stretch, jnp.zeros(out.shape, out.dtype), jnp.arange(0, whole, UNROLLED))
    if whole == terms:
        return total
    ends = (jax.lax.slice_in_dim(part, whole, terms, axis=axis) for part, axis in ((a, terms_a), (b, terms_b)))
    return total + written_out(*ends)


def _walled(bare: Callable[..., Array]) -> Callable[..., Array]:
    """The function behind a wall, for the CPU.

    XLA fuses chains of such sums, and then computes the inner ones again and again; `optimization_barrier` is gone
    before it fuses. It doesn't fuse across a branch. This one is always taken, which XLA can't know.
    """

    def walled(a: Array, b: Array, **flips: bool) -> Array:
        function = functools.partial(bare, **flips)
        first = a[(0,) * a.ndim]
        never = NEVER[first.dtype.itemsize]
        always = jax.lax.bitcast_convert_type(first, never.dtype) != never
        out = jax.eval_shape(function, a, b)
        return jax.lax.cond(always, function, lambda a, b: jnp.full(out.shape, jnp.nan, out.dtype), a, b)

    return walled


def _by_platform(bare: Callable[..., Array]) -> Callable[..., Array]:
    return lambda a, b: jax.lax.platform_dependent(a, b, cpu=_walled(bare), default=bare)


def _pooled(a: Array, b: Array, *, flip_a: bool, flip_b: bool, shape: tuple[int, ...]) -> Array:
    """The product, summed over all lanes and over the leading axes that are 1 long in `shape`: one large product."""
    lead = len(shape) - 3
    own, rest = ([axis for axis in range(lead) if (shape[axis] > 1) == kept] for kept in (True, False))
    leading = np.broadcast_shapes(a.shape[:lead], b.shape[:lead])

    def flat(part: Array, row: int, term: int) -> Array:
        part = jnp.broadcast_to(part, (*leading, *part.shape[lead:]))
        rows = part.transpose(*own, row, *rest, term, lead + 2)
        return rows.reshape(*rows.shape[: len(own) + 1], -1)

    first, second = lead, lead + 1
    rows = flat(a, second, first) if flip_a else flat(a, first, second)
    columns = flat(b, first, second) if flip_b else flat(b, second, first)
    return (rows @ jnp.swapaxes(columns, -1, -2)).reshape(shape)


_product = Primitive("product_in_lanes")


@_product.def_abstract_eval
def _abstract(a, b, *, flip_a, flip_b):
    lead = np.broadcast_shapes(a.shape[:-3], b.shape[:-3])
    (i, k), (other, j) = (
        part.shape[-3:-1][::-1] if flip else part.shape[-3:-1] for part, flip in ((a, flip_a), (b, flip_b))
    )
    if k != other or a.dtype != b.dtype:
        raise TypeError(f"no product of {a.dtype} {i} x {k} and {b.dtype} {other} x {j} matrices.")
    return ShapedArray((*lead, i, j, max(a.shape[-1], b.shape[-1])), a.dtype)


def _jvp(primals, tangents, **flips):
    pairs = ((tangents[0], primals[1]), (primals[0], tangents[1]))
    parts = [
        _product.bind(*pair, **flips)
        for pair, tangent in zip(pairs, tangents, strict=True)
        if not isinstance(tangent, ad.Zero)
    ]
    return _product.bind(*primals, **flips), sum(parts[1:], parts[0])


def _transpose(slope, a, b, *, flip_a, flip_b):
    """With C = A B, the slope by A is C Bᵀ and that by B is Aᵀ C; turned where A or B was turned."""
    if ad.is_undefined_primal(a):
        flips = (flip_b, True) if flip_a else (False, not flip_b)
        return _slope(a.aval.shape, *((b, slope) if flip_a else (slope, b)), *flips), None
    flips = (True, flip_a) if flip_b else (not flip_a, False)
    return None, _slope(b.aval.shape, *((slope, a) if flip_b else (a, slope)), *flips)


def _slope(shape, a, b, flip_a, flip_b):
    """A product, in the shape of the factor whose slope it is."""
    flips = {"flip_a": flip_a, "flip_b": flip_b}
    if shape[-1] == 1 and min(a.shape[-1], b.shape[-1]) > 1:
        return _by_platform(functools.partial(_pooled, **flips, shape=shape))(a, b)
    found = _product.bind(a, b, **flips)
    shared = tuple(axis for axis in range(found.ndim) if shape[axis] != found.shape[axis])
    return jnp.sum(found, axis=shared, keepdims=True) if shared else found


def _batch(factors, axes, **flips):
    a, b = (
        factor[None] if axis is None else jnp.moveaxis(factor, axis, 0)
        for factor, axis in zip(factors, axes, strict=True)
    )
    return _product.bind(a, b, **flips), 0


ad.primitive_jvps[_product] = _jvp
ad.primitive_transposes[_product] = _transpose
batching.primitive_batchers[_product] = _batch
mlir.register_lowering(_product, mlir.lower_fun(_sum_of_outer_products, multiple_results=False))
mlir.register_lowering(
    _product, mlir.lower_fun(_walled(_sum_of_outer_products), multiple_results=False), platform="cpu"
)


@_product.def_impl
@functools.partial(jax.jit, static_argnames=("flip_a", "flip_b"))
def _run(a, b, *, flip_a, flip_b):
    return _product.bind(a, b, flip_a=flip_a, flip_b=flip_b)
