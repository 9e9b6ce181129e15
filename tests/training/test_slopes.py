"""Derivatives of a fit by least squares: taken array by array, on an equal model where a kind knows one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import CategoricalNoise, LinearRegression
from descant._linalg import psd_root
from descant.attention import LSA, Diag, FreeDiag, GDPlusPlusTransformer, kind_of
from descant.attention._layers_apart import layers_apart
from descant.training._flat import flatten, rebuild
from descant.training._least_squares import LeastSquares, _normal, _reduction
from descant.training._pool import draw_pool, pieces_for

TASK = LinearRegression(4, 6, noise=CategoricalNoise([1.0, 3.0]))
ROOT = psd_root(TASK.query_metric())
MODELS = {
    "diag": lambda key: Diag.random(3, heads=2, key=key, scale=0.05),
    "tied diag": lambda key: Diag.random(3, key=key, tied=True, scale=0.05),
    "free diag": lambda key: FreeDiag.random(3, key=key),
    "one layer": lambda key: FreeDiag.random(1, key=key),
    "gd++": lambda key: GDPlusPlusTransformer.random(3, key=key),
    "lsa": lambda key: LSA.random(4, key=key),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
def test_normal_equations_are_those_of_the_jacobian(make, keys):
    """J^T J and J^T r, against `jax.jacfwd` of the residuals of the model as it is."""
    model = make(keys())
    (piece,) = pieces_for(model, draw_pool("posterior", TASK, 1, keys(), drawn=1, sentinels=False))

    def residuals(theta):
        return jax.vmap(lambda context: context.residual(rebuild(model, theta), ROOT))(piece).reshape(-1)

    theta = jnp.asarray(flatten(model))
    jacobian, values = jax.jacfwd(residuals)(theta), residuals(theta)
    slopes = jnp.eye(theta.size)
    if kind_of(model).reduced is not None:
        model, slopes = _reduction(model)
    matrix, gradient, total = _normal(model, piece, ROOT)
    np.testing.assert_allclose(total, values @ values, rtol=1e-12)
    expected = jacobian.T @ jacobian
    # Relative to the lengths of the columns that meet; some have none, such as those of the first layer's label.
    lengths = np.sqrt(np.diag(expected))
    assert np.all(np.abs(slopes.T @ matrix @ slopes - expected) <= 1e-12 * np.outer(lengths, lengths))
    assert np.all(np.abs(slopes.T @ gradient - jacobian.T @ values) <= 1e-12 * lengths * np.sqrt(total))


def test_layers_apart_are_the_same_function(keys):
    """Those of a network are its own; tied layers share their omegas, and stay together."""
    model = FreeDiag.random(4, key=keys(), scale=0.05)
    reduced = kind_of(model).reduced
    assert reduced is not None
    moments = TASK.sample_moments(key=keys())
    apart = reduced(model)
    np.testing.assert_allclose(apart.weights(moments), model.weights(moments), rtol=1e-12)
    assert [leaf.shape for leaf in jax.tree.leaves(apart)] == [(2, 2)] * 4
    tied = FreeDiag.random(4, key=keys(), tied=True)
    assert reduced(tied) is tied


def test_a_step_goes_down(keys):
    """From a random network, with its layers apart."""
    model = Diag.random(2, key=keys(), scale=0.05)
    problem = LeastSquares(model, draw_pool("posterior", TASK, 1, keys(), drawn=1, sentinels=False), ROOT)
    start = problem.start(flatten(model))
    assert problem.step(start).loss < start.loss


def test_slopes_by_a_layer_pass_through_those_behind_it_alone():
    """What the layers are apart for: in a stack, products of derivatives don't depend on the layer."""
    (piece,) = draw_pool("posterior", TASK, 1, jax.random.key(0), drawn=1, sentinels=False)
    context = jax.tree.map(lambda leaf: leaf[0], piece)
    stack = FreeDiag.random(5, key=jax.random.key(0))
    apart = layers_apart(stack)

    def products(model, index):
        leaves, structure = jax.tree.flatten(model)

        def of(leaf):
            return context.residual(jax.tree.unflatten(structure, [*leaves[:index], leaf, *leaves[index + 1 :]]), ROOT)

        programs = (
            jax.make_jaxpr(of)(leaves[index]),
            jax.make_jaxpr(lambda leaf: jax.jvp(of, (leaf,), (leaf,)))(leaves[index]),
        )
        value, both = (str(program).count("dot_general") for program in programs)
        return both - value

    by_layer = [products(apart, index) for index in range(5)]
    assert by_layer == sorted(by_layer, reverse=True)
    # Of the last layer, the rows alone are left: as many products as there are layers, the root's among them.
    assert by_layer[-1] == 5 < by_layer[0]
