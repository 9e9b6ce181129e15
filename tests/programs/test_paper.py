"""The paper's constructions: every primitive against NumPy, its conditions, and ridge regression over 100 steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.programs import paper
from descant.programs.paper import Part

SHAPES = [(9, 7), (7, 9), (8, 8)]


def h_with(parts, shape, keys):
    """An H that is zero but for these parts."""
    values = [jax.random.normal(keys(), (part.rows, part.columns)) for part in parts]
    h = jnp.zeros(shape)
    for part, value in zip(parts, values, strict=True):
        h = h.at[part.row_range, part.column_range].set(value)
    return h, values


def placed(value, shape, top, left):
    return jnp.zeros(shape).at[top : top + value.shape[0], left : left + value.shape[1]].set(value)


@pytest.mark.parametrize("shape", SHAPES)
def test_linear_primitives(shape, keys):
    rows, columns = shape
    h, right, c = (jax.random.normal(keys(), s) for s in (shape, (columns, columns), shape))
    np.testing.assert_allclose(paper.skip(rows, columns)(h), h, rtol=0, atol=1e-14)
    np.testing.assert_allclose(paper.times(right, rows)(h), h @ right, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(paper.constant(c)(h), c, rtol=0, atol=1e-14)
    a = Part(1, 2, 3, 2)  # a block of a dense H: nothing has to be zero
    moved = paper.transpose(rows, columns, a, 4, 3)(h)
    np.testing.assert_allclose(moved, placed(h[1:4, 2:4].T, shape, 4, 3), atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_products(shape, keys):
    rows, columns = shape
    a, b = Part(1, 0, 3, 2), Part(4, 3, 2, 2)
    h, (left, right) = h_with([a, b], shape, keys)
    found = paper.product_ab(rows, columns, a, b, 5)(h)
    np.testing.assert_allclose(found, placed(left @ right, shape, 1, 5), atol=1e-13)
    found = paper.product_abt(rows, columns, a, b, 5)(h)
    np.testing.assert_allclose(found, placed(left @ right.T, shape, 1, 5), atol=1e-13)
    b, c = Part(4, 3, 2, 2), Part(4, 5, 2, 2)
    h, (first, second, third) = h_with([a, b, c], shape, keys)
    found = paper.product_atb(rows, columns, b, c, 2, 1)(h)
    np.testing.assert_allclose(found, placed(second.T @ third, shape, 2, 1), atol=1e-13)
    found = paper.product_abtc(rows, columns, a, b, c, 5)(h)
    np.testing.assert_allclose(found, placed(first @ second.T @ third, shape, 1, 5), atol=1e-13)


def test_conditions_are_reported_and_checked(keys):
    a, b = Part(1, 0, 3, 2), Part(4, 3, 2, 2)
    h, _ = h_with([a, b], (9, 7), keys)
    primitive = paper.product_ab(9, 7, a, b, 5)
    assert [condition.holds for condition in primitive.conditions(h)] == [True]
    dirty = h.at[8, 1].set(1.0)
    assert [condition.holds for condition in primitive.conditions(dirty)] == [False]
    with pytest.raises(ValueError, match="the columns of A are zero outside of its rows"):
        primitive(dirty)
    # The condition is needed: without it there is junk in that row.
    assert primitive.block(dirty)[8, 5] != 0
    gram = paper.product_atb(9, 7, Part(4, 0, 2, 2), b, 0, 0)
    filled = h.at[4:6, 0:2].set(1.0)
    assert gram.conditions(filled)[0].holds  # rows 1 to 3 are non-zero in the columns of A only
    assert not gram.conditions(filled.at[2, 3].set(1.0))[0].holds
    with pytest.raises(ValueError, match="have the same rows"):
        paper.product_atb(9, 7, a, b, 0, 0)(h)
    with pytest.raises(ValueError, match="expected a part of an H"):
        paper.product_ab(9, 7, a, b, 6)
    with pytest.raises(ValueError, match="expected the same number"):
        paper.product_ab(9, 7, a, Part(4, 3, 3, 2), 5)


def test_mask_and_move(keys):
    matrix = jax.random.normal(keys(), (6, 5))
    w, v = paper.mask_and_move((6, 5), Part(1, 0, 2, 3), 3, 2)
    np.testing.assert_array_equal(w @ matrix @ v, placed(matrix[1:3, 0:3], (6, 5), 4, 2))
    with pytest.raises(ValueError, match="the moved part"):
        paper.mask_and_move((6, 5), Part(1, 0, 2, 3), 4, 2)


CONSTRUCTIONS = {
    "lsa, designed input": paper.ridge_as_lsa,
    "elsa, eta and lambda in the weights": paper.ridge_as_elsa,
    "elsa, eta and lambda in the input": lambda *a, **k: paper.ridge_as_elsa(*a, in_weights=False, **k),
}


def plain_ridge(x, y, eta, lam, steps):
    """Plain gradient descent from zero on |y - X w|^2 / 2 + lam |w|^2 / 2."""
    w = jnp.zeros(x.shape[1])
    for _ in range(steps):
        w = w - eta * (x.T @ (x @ w - y) + lam * w)
    return w


@pytest.mark.parametrize("name", CONSTRUCTIONS)
@pytest.mark.parametrize(("n", "d"), [(12, 4), (3, 6)])
def test_ridge_is_gradient_descent(name, n, d, keys):
    x, y, query = (jax.random.normal(keys(), shape) for shape in ((n, d), (n,), (d,)))
    eta, lam = 1 / float(jnp.linalg.norm(x, 2) ** 2 + 0.7), 0.7
    by_hand = CONSTRUCTIONS[name](x, y, query, eta=eta, lam=lam, steps=100)
    plain = plain_ridge(x, y, eta, lam, 100)
    scale = float(jnp.abs(plain).max())
    np.testing.assert_allclose(by_hand.weights(), plain, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(by_hand(), plain @ query, rtol=0, atol=1e-12 * scale * d)


def test_the_hand_counts():
    """Two blocks of two heads per iteration, in an H of (n + d) x (d + 4), or (3 d + 4) with eta and lambda inside."""
    x, y, query = jnp.ones((6, 3)), jnp.ones(6), jnp.ones(3)
    lean = paper.ridge_as_elsa(x, y, query, eta=0.1, lam=0.1, steps=5)
    full = paper.ridge_as_elsa(x, y, query, eta=0.1, lam=0.1, steps=5, in_weights=False)
    assert lean.input.shape == (9, 7) and full.input.shape == (9, 13)
    for found in (lean, full):
        assert len(found.network.unrolled()) == 10
        assert all(block.heads == 2 for block in found.network.unrolled())
