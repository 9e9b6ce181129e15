"""Pools of contexts, and the least-squares steps taken on them."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from descant import (
    GaussianInputs,
    LinearRegression,
    attention as at,
)
from descant.training import _pool
from descant.training._least_squares import LeastSquares, _damped_solve, _normal, _square
from descant.training._pool import PIECE, draw_pool, pieces_for
from descant.training._sentinels import STRETCHES, stretched
from tests.support.problems import random_covariance, random_task
from tests.support.training_tasks import TASK


def test_a_pool_is_unbiased_and_keeps_the_extremes():
    pool = draw_pool("posterior", TASK, 12, jax.random.key(0), sentinels=False)
    scale = np.concatenate([piece.scale for piece in pool])
    gram = np.concatenate([piece.seen.gram for piece in pool])
    np.testing.assert_allclose(np.mean(scale**2), 1.0, rtol=1e-12)
    plain = jax.vmap(lambda key: TASK.sample_moments(key=key).gram)(jax.random.split(jax.random.key(1), 100_000))
    for statistic in (lambda g: g[:, 0, 0], lambda g: g[:, 1, -1], lambda g: g[:, -1, -1], lambda g: g[:, 0, 0] ** 3):
        weighted = scale**2 * statistic(gram)
        direct = np.asarray(statistic(plain))
        error = np.hypot(weighted.std() / len(weighted) ** 0.5, direct.std() / len(direct) ** 0.5)
        assert abs(weighted.mean() - direct.mean()) < 4 * error
    size = np.linalg.norm(gram[:, :-1, :-1], axis=(1, 2))
    ordinary = np.linalg.norm(np.asarray(plain)[:, :-1, :-1], axis=(1, 2))
    assert np.sort(size)[-12] > np.quantile(ordinary, 0.9995)


def test_sentinels_stand_behind_the_largest_contexts():
    """In place of some ordinary contexts; with next to no weight."""
    plain = draw_pool("posterior", TASK, 1, jax.random.key(0), sentinels=False)[0]
    guarded = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    assert plain.scale.shape == guarded.scale.shape == (PIECE,)
    longest = [np.linalg.eigvalsh(piece.seen.gram[:, :-1, :-1])[:, -1].max() for piece in (plain, guarded)]
    assert longest[1] > 1.2 * longest[0]
    assert np.sum(np.asarray(guarded.scale[-_pool.SENTINELS :]) ** 2) < 1e-3 * np.sum(np.asarray(guarded.scale) ** 2)


@pytest.mark.parametrize("rank", [3, 2])
def test_stretched_contexts_are_contexts_of_longer_tokens(rank):
    """Built again from tokens; and weighed with the density of the tokens and the volume that a stretch takes."""
    rng = np.random.default_rng(0)
    n, d, count = 7, 3, 5
    root = np.diag([1.0, 0.7, 1.6]) if rank == 3 else np.diag([1.0, 0.7, 0.0])
    law = LinearRegression(d, n, inputs=GaussianInputs(root @ root))
    z, w, noise = rng.normal(size=(count, n, d)), rng.normal(size=(count, d)), rng.normal(size=(count, n))

    def gram(z):
        x = z @ root
        tokens = np.concatenate([x, (np.einsum("mnd,md->mn", x, w) + noise)[..., None]], axis=2)
        return np.einsum("mni,mnj->mij", tokens, tokens)

    if rank == 2:
        z[:, :, 2] = 0
    found, weights = stretched(law, gram(z), w)
    factors = np.linspace(*STRETCHES, count)
    u, values, v = np.linalg.svd(z, full_matrices=False)
    largest, others = values[:, 0].copy(), values[:, 1:rank]
    values[:, 0] *= np.sqrt(factors)
    longer = np.einsum("mnk,mk,mkd->mnd", u, values, v)
    np.testing.assert_allclose(found, gram(longer), rtol=1e-9, atol=1e-9)
    # The density of singular values s of a normal matrix: e^(-s^2/2) s^(n-k) prod (s^2 - s_j^2), here per d(s^2).
    density = [
        np.exp(-(s**2) / 2) * s ** (n - rank - 1) * np.prod(s[:, None] ** 2 - others**2, axis=1).reshape(1, -1)
        for s in (np.sqrt(factors) * largest, largest)
    ]
    np.testing.assert_allclose(weights, (density[0] / density[1])[0], rtol=1e-9)


def test_larger_pools_begin_with_smaller_ones():
    small, large = (draw_pool("weights", TASK, count, jax.random.key(3)) for count in (1, 2))
    assert eqx.tree_equal(small[0], large[0])
    assert eqx.tree_equal(draw_pool("weights", TASK, 1, jax.random.key(3), start=1)[0], large[1])


def test_spectra_give_the_same_residuals():
    contexts = draw_pool("posterior", random_task(1, 4, 9), 1, jax.random.key(0))[0]
    model = at.GDPlusPlusTransformer.random(4, key=jax.random.key(1), scale=0.03)
    root = jnp.asarray(random_covariance(4, 2))
    plain = jax.vmap(lambda context: context.residual(model, root))(contexts)
    spectral = jax.vmap(lambda context: context.residual(model, root))(pieces_for(model, [contexts])[0])
    np.testing.assert_allclose(spectral, plain, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "model", [at.FreeDiag.random(2, key=jax.random.key(0)), at.Full.random(3, 2, key=jax.random.key(0))]
)
def test_normal_equations_against_a_dense_jacobian(model):
    """Forward and reverse derivatives, block by block, are those of all residuals in one."""
    contexts = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    problem = LeastSquares(model, [contexts], jnp.eye(3))
    flat, unravel = ravel_pytree(eqx.filter(model, eqx.is_array))
    theta = np.asarray(flat)

    def residuals(theta):
        rebuilt = eqx.combine(unravel(theta), model)
        return jax.vmap(lambda context: context.residual(rebuilt, jnp.eye(3)))(contexts).ravel()

    jacobian = np.asarray(jax.jacfwd(residuals)(jnp.asarray(theta)))
    matrix, gradient, loss = _normal(model, contexts, jnp.eye(3))
    np.testing.assert_allclose(matrix, jacobian.T @ jacobian, rtol=1e-8, atol=1e-8 * np.abs(matrix).max())
    np.testing.assert_allclose(gradient, jacobian.T @ residuals(theta), rtol=1e-8, atol=1e-8 * np.abs(gradient).max())
    np.testing.assert_allclose(loss / PIECE, problem.loss(theta), rtol=1e-10)


def test_one_context_cannot_poison_a_step():
    """A context a thousand times too large: steps still only ever lower the loss of the whole pool, and it is in it."""
    contexts = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    spoilt = eqx.tree_at(lambda c: c.seen.gram, contexts, contexts.seen.gram.at[0].multiply(1e3))
    model = at.FreeDiag.random(2, key=jax.random.key(0), scale=0.02)
    problem = LeastSquares(model, [spoilt], jnp.eye(3))
    theta = np.asarray(ravel_pytree(eqx.filter(model, eqx.is_array))[0])
    point = problem.start(theta)
    assert point.loss > 1e3
    losses = [point.loss]
    for _ in range(30):
        point = problem.step(point)
        losses.append(point.loss)
    assert all(after <= before for before, after in pairwise(losses))
    assert np.all(np.isfinite(point.theta))
    assert losses[-1] < 1e-2 * losses[0]


def test_damped_steps_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    jacobian, residual = rng.standard_normal((20, 3)), rng.standard_normal(20)
    units = np.array([1.0, 1e4, 1e-4])
    plain = _damped_solve(jacobian.T @ jacobian, jacobian.T @ residual, 0.1)
    scaled = jacobian * units[None, :]
    np.testing.assert_allclose(_damped_solve(scaled.T @ scaled, scaled.T @ residual, 0.1) * units, plain, rtol=1e-6)


@pytest.mark.parametrize("parameters", [12, 300])
def test_the_square_of_a_jacobian_is_put_together_from_its_blocks(parameters, keys):
    jacobian = jax.random.normal(keys(), (40, parameters))
    np.testing.assert_allclose(_square(jacobian), jacobian.T @ jacobian, rtol=1e-12, atol=1e-12)
