"""`lanes.vmap` is `jax.vmap`, whatever the function: values, derivatives, shapes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression, UniformNoise, lanes
from descant.tasks import Moments
from tests.support.models import MODELS, make

COUNT = 37


def looped(x):
    """A loop whose carry depends on the context only after the first step."""

    def body(carry, row):
        total, seen = carry
        return (total + row @ x, seen + 1.0), total

    (total, seen), rows = jax.lax.scan(body, (jnp.zeros(3), 0.0), jnp.ones((4, 3)), reverse=True)
    return total * seen + rows.sum(0)


@jax.custom_jvp
def straight(x):
    """Rounds, and says that it doesn't."""
    return jnp.round(x @ x)


straight.defjvp(lambda primals, tangents: (straight(*primals), tangents[0] * 2))


@jax.custom_vjp
def backwards(x, y):
    return x @ y


backwards.defvjp(lambda x, y: (backwards(x, y), (x, y)), lambda kept, slope: (7.0 * slope, kept[0].T @ slope))

SHARED = jnp.asarray(np.random.default_rng(0).normal(size=(3, 3)))
FUNCTIONS = {
    "products": lambda x: SHARED @ x @ x.T @ SHARED[0],
    "turned twice": lambda x: x.T.T @ (x.T @ x).T,
    "vectors": lambda x: jnp.outer(x[0], x[1]) @ x[2] + x[0] @ x[1],
    "batched products": lambda x: jnp.einsum("ijk,ikl->ilj", jnp.stack([x, 2 * x]), jnp.stack([x, SHARED])),
    "many axes": lambda x: jnp.tensordot(jnp.stack([x, x + 1]), jnp.stack([SHARED, x]), ((0, 1), (0, 2))),
    "elementwise": lambda x: jnp.where(x > 0, jnp.exp(x) * x.sum(), 2.0) / (1 + x[0, 0] ** 2) @ SHARED,
    "one number": lambda x: jnp.clip(x, -(x[0, 0] ** 2), 1.0) @ x * jnp.maximum(x.max(), 0.5),
    "slices": lambda x: jnp.concatenate([x[1:, ::2], jnp.pad(x, ((0, 1), (0, 0)))[2:, :2]]) @ x[:2],
    "set": lambda x: (x.at[0, 1].set(3.0).at[jnp.array([1, 2]), 0].add(x[0, 0]) @ x)[::-1],
    "picked": lambda x: x[jnp.argmax(x[:, 0])] @ jax.lax.dynamic_slice(x, (1, 0), (2, 3)).T,
    "shapes": lambda x: x.reshape(9, 1).T.reshape(3, 3).transpose() @ jnp.squeeze(x[None], 0),
    "sorted": lambda x: jnp.sort(x, axis=0) @ jnp.cumsum(x, axis=1),
    "whole numbers": lambda x: (jnp.floor(x).astype(int) @ jnp.ones((3, 2), int)).astype(float) * x[0, 0],
    "shared alone": lambda x: jnp.stack([SHARED @ SHARED, x @ x]),
    "constant": lambda x: jnp.ones(2) + 0 * (x @ x)[0, :2],
    "loop": looped,
    "unrolled": lambda x: jax.lax.scan(lambda c, _: (c @ x / 3, c[0]), x, None, length=3, unroll=3),
    "branch": lambda x: jax.lax.cond(x[0, 0] > 0, lambda x: x @ x, lambda x: x - 1.0, x),
    "while": lambda x: jax.lax.while_loop(lambda c: jnp.sum(c**2) > 1, lambda c: 0.5 * c @ jnp.eye(3), x),
    "mapped inside": lambda x: jax.vmap(lambda row: row @ x)(x) + jax.vmap(lambda c: x @ c, 1, 1)(x),
    "jitted": lambda x: jax.jit(lambda y: y @ x)(x),
    "checkpoint": jax.checkpoint(lambda x: jnp.sin(x @ x)),
    "solved": lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(3), x[0]),
    "derivative of its own": straight,
    "way back of its own": lambda x: backwards(x, SHARED),
    "gradient": jax.grad(lambda x: jnp.sum((x @ x) ** 2)),
    "jacobian": jax.jacfwd(lambda x: (x @ SHARED @ x)[0]),
    "tree": lambda x: {"a": x @ x, "b": (x[0], 1.0)},
}
ONLY_VALUES = {"whole numbers", "sorted", "while", "set"}


@pytest.fixture
def contexts(keys):
    return jax.random.normal(keys(), (COUNT, 3, 3))


def close(found, wanted, tolerance=1e-11):
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for ours, plain in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert ours.shape == plain.shape and ours.dtype == plain.dtype
        assert np.allclose(ours, plain, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, contexts):
    function = FUNCTIONS[name]
    close(*(jax.jit(mapped(function))(contexts) for mapped in (lanes.vmap, jax.vmap)))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ONLY_VALUES])
def test_derivatives(name, contexts, keys):
    function = FUNCTIONS[name]
    random = np.random.default_rng(keys.seed)
    shapes = jax.eval_shape(jax.vmap(function), contexts)
    slopes = jax.tree.map(lambda leaf: jnp.asarray(random.normal(size=leaf.shape)), shapes)

    def both(derivative, *arrays):
        """One program each: operation by operation, compiling would take a minute."""
        return (jax.jit(lambda *parts, m=m: derivative(m(function), *parts))(*arrays) for m in (lanes.vmap, jax.vmap))

    close(*both(lambda mapped, x, slopes: jax.vjp(mapped, x)[1](slopes), contexts, slopes))
    if "way back" not in name:
        close(*both(lambda mapped, x, along: jax.jvp(mapped, (x,), (along,)), contexts, 2 * contexts[::-1]))


def test_shared_arguments_get_the_sum_of_slopes(contexts, keys):
    def one(weights, factor, x):
        return jnp.sum((weights @ x * factor) ** 2)

    weights = jax.random.normal(keys(), (3, 3))

    def loss(mapped):
        return jax.grad(lambda w, f: jnp.sum(mapped(one, (None, None, 0))(w, f, contexts)), (0, 1))(weights, 2.0)

    close(loss(lanes.vmap), loss(jax.vmap))
    # A derivative of one's own adds up over lanes, too.
    own = [jax.grad(lambda w, m=m: jnp.sum(m(lambda w, x: backwards(x, w), (None, 0))(w, contexts)))(weights)
           for m in (lanes.vmap, jax.vmap)]  # fmt: skip
    close(*own)


def test_members_outside(contexts):
    """Populations map over the mapped function, with weights of their own."""
    weights = jnp.stack([SHARED, 2 * SHARED])
    both = [
        jax.jit(
            jax.vmap(
                lambda w, m=m: jax.value_and_grad(
                    lambda w: jnp.sum(m(lambda w, x: (w @ x @ w)[0], (None, 0))(w, contexts))
                )(w)
            )
        )(weights)
        for m in (lanes.vmap, jax.vmap)
    ]
    close(*both)


@pytest.mark.parametrize("count", [1, 15, 16, 128, 129, 200, 257])
def test_any_number_of_contexts(count, keys):
    contexts = jax.random.normal(keys(), (count, 3, 3))
    close(lanes.vmap(lambda x: x @ x)(contexts), contexts @ contexts)


@pytest.mark.parametrize("count", [1, 30, 128, 251, 384])
def test_numbers_in_a_row(count, keys):
    """Each number belongs to one context, whichever: sums over all contexts are those of the numbers."""
    numbers = jax.random.normal(keys(), (count * 9,))
    found = lanes.of_numbers(lambda part: (part.reshape(3, 3) @ part[:3], part), numbers, count)
    assert found[0].shape == (count, 3) and found[1].shape == (count, 9)
    assert np.array_equal(np.sort(np.ravel(found[1])), np.sort(numbers))
    close(found[0], jax.vmap(lambda part: part.reshape(3, 3) @ part[:3])(found[1]))


def test_large_matrices_are_left_to_jax(keys):
    contexts = jax.random.normal(keys(), (20, 41, 41))
    program = str(jax.make_jaxpr(lanes.vmap(lambda x: x @ x))(contexts))
    assert "product_in_lanes" not in program
    assert "product_in_lanes" in str(jax.make_jaxpr(lanes.vmap(lambda x: x @ x))(contexts[:, :11, :11]))


def test_keys_are_contexts_too(keys):
    task = LinearRegression(3, 6, noise=UniformNoise(1.0))
    drawn = jax.random.split(keys(), 40)
    close(*(jax.jit(m(lambda key: task.sample_moments(key=key).gram))(drawn) for m in (lanes.vmap, jax.vmap)))


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry.linear])
def test_every_linear_model(name, keys):
    """Layers are written for one context; on lanes they give the same weights and the same slopes."""
    model = make(name, d=3, n=7)
    task = LinearRegression(3, 7, noise=UniformNoise(1.0))
    grams = jax.jit(jax.vmap(lambda key: task.sample_moments(key=key).gram))(jax.random.split(keys(), 24))

    def total(mapped):
        def loss(model):
            return jnp.sum(mapped(lambda model, gram: model.weights(Moments(gram, 7)), (None, 0))(model, grams) ** 2)

        return eqx.filter_jit(jax.value_and_grad(loss, allow_int=True))(model)

    found, wanted = total(lanes.vmap), total(jax.vmap)
    for ours, plain in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if ours.dtype != jax.dtypes.float0:
            assert np.allclose(ours, plain, rtol=1e-9, atol=1e-9 * float(jnp.max(jnp.abs(plain)) + 1))
