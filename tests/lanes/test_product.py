"""The product of many small matrices, against sums written by Einstein's rule."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.lanes import product

LANES = 5
FLIPS = list(itertools.product((False, True), repeat=2))


def by_einsum(a, b, flip_a, flip_b):
    """The same by NumPy's rules of broadcasting."""
    rank = max(a.ndim, b.ndim)
    a, b = (part.reshape((1,) * (rank - part.ndim) + part.shape) for part in (a, b))
    a, b = (jnp.moveaxis(part, -1, -3) for part in (a, b))
    a, b = (jnp.swapaxes(part, -1, -2) if flip else part for part, flip in ((a, flip_a), (b, flip_b)))
    return jnp.moveaxis(jnp.matmul(a, b), -3, -1)


def factors(keys, shape_a, shape_b, flip_a=False, flip_b=False, terms=3, dtype=jnp.float64):
    """Random matrices of 4 x terms and terms x 2 with these axes before and behind them."""
    sizes = [(4, terms)[:: -1 if flip_a else 1], (terms, 2)[:: -1 if flip_b else 1]]
    shapes = [(*lead, *size, lanes) for (lead, lanes), size in zip((shape_a, shape_b), sizes, strict=True)]
    return tuple(jax.random.normal(keys(), shape, dtype) for shape in shapes)


# Leading axes and lanes of both: alike, shared, members on one side, both sides shared.
SHAPES = [
    (((), LANES), ((), LANES)),
    (((3,), LANES), ((3,), LANES)),
    (((), 1), ((3,), LANES)),
    (((3,), LANES), ((), 1)),
    (((2, 1), 1), ((2, 3), LANES)),
    (((2, 3), LANES), ((1, 3), LANES)),
    (((), 1), ((), 1)),
]


@pytest.mark.parametrize(("shape_a", "shape_b"), SHAPES)
@pytest.mark.parametrize("flips", FLIPS)
def test_values_and_derivatives(keys, shape_a, shape_b, flips):
    a, b = factors(keys, shape_a, shape_b, *flips)
    flags = dict(zip(("flip_a", "flip_b"), flips, strict=True))
    ours, plain = (lambda a, b: product(a, b, **flags)), (lambda a, b: by_einsum(a, b, *flips))
    tangents = factors(keys, shape_a, shape_b, *flips)
    for found, wanted in zip(jax.jvp(ours, (a, b), tangents), jax.jvp(plain, (a, b), tangents), strict=True):
        assert np.allclose(found, wanted, rtol=0, atol=1e-13)
    slope = jax.random.normal(keys(), ours(a, b).shape)
    for found, wanted in zip(jax.vjp(ours, a, b)[1](slope), jax.vjp(plain, a, b)[1](slope), strict=True):
        assert found.shape == wanted.shape
        assert np.allclose(found, wanted, rtol=0, atol=1e-12)
    # The way back has derivatives too.
    twice = [jax.jvp(jax.grad(lambda a, f=f: jnp.sum(f(a, b) ** 3)), (a,), (tangents[0],))[1] for f in (ours, plain)]
    assert np.allclose(*twice, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("terms", [1, 31, 32, 33, 64, 70])
def test_long_sums(keys, terms):
    """Stretches that are loops, and what is left over."""
    a, b = factors(keys, ((2,), LANES), ((2,), LANES), False, True, terms)
    assert np.allclose(product(a, b, flip_b=True), by_einsum(a, b, False, True), rtol=0, atol=1e-12)
    slopes = [jax.grad(lambda b, f=f: jnp.sum(f(a, b) ** 2))(b) for f in (
        lambda a, b: product(a, b, flip_b=True), lambda a, b: by_einsum(a, b, False, True))]  # fmt: skip
    assert np.allclose(*slopes, rtol=0, atol=1e-10)


@pytest.mark.parametrize("axes", [(0, None), (None, 2), (1, 1), (-1, 0)])
def test_mapped_over_members(keys, axes):
    members = 3
    a, b = factors(keys, ((), LANES), ((), LANES))
    a, b = (
        part if axis is None else jnp.moveaxis(part[None] * jnp.arange(1.0, members + 1)[:, None, None, None], 0, axis)
        for part, axis in zip((a, b), axes, strict=True)
    )
    found = jax.vmap(product, axes)(a, b)
    assert np.allclose(found, jax.vmap(lambda a, b: by_einsum(a, b, False, False), axes)(a, b), rtol=0, atol=1e-13)


def test_a_lane_keeps_its_overflow_to_itself(keys):
    """The branch around a product is taken whatever the numbers are: one that is none spoils its own lane alone."""
    a, b = factors(keys, ((), LANES), ((), LANES))
    for spoilt in (jnp.nan, jnp.inf, -jnp.inf):
        found = product(a.at[0, 0, 0].set(spoilt), b)
        assert not np.isfinite(found[0, :, 0]).any()
        assert np.allclose(found[..., 1:], product(a, b)[..., 1:])
        assert np.allclose(found[1:, :, 0], product(a, b)[1:, :, 0])


def test_single_precision(keys):
    a, b = factors(keys, ((), LANES), ((), LANES), dtype=jnp.float32)
    assert product(a, b).dtype == jnp.float32
    assert np.allclose(product(a, b), by_einsum(a, b, False, False), rtol=0, atol=1e-5)


def test_sizes_that_do_not_fit_are_refused(keys):
    a, b = factors(keys, ((), LANES), ((), LANES))
    with pytest.raises(TypeError, match="no product of"):
        product(a, b, flip_b=True)


def test_products_are_not_fused_on_a_cpu(keys):
    """Each is behind a wall: fused, inner products would be computed once for every entry of the outer ones."""
    if jax.default_backend() != "cpu":
        pytest.skip("the wall is for the CPU")
    a, _ = factors(keys, ((), 64), ((), 64), terms=4)
    a = a[:, :4]
    text = jax.jit(lambda a: product(product(a, a), a)).lower(a).compile().as_text()
    assert text.count("conditional(") == 2
