"""The eigen-decomposition that can be batched without hanging."""

import jax
import jax.numpy as jnp
import numpy as np

from descant._linalg import eigh, psd_root
from tests.support.problems import random_covariance


def _batch(count: int, d: int = 6) -> jnp.ndarray:
    x = jax.random.normal(jax.random.key(0), (count, d, d))
    return x @ jnp.swapaxes(x, 1, 2)


def test_it_is_numpys():
    matrices = _batch(5)
    values, vectors = jax.vmap(eigh)(matrices)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrices), rtol=1e-10)
    rebuilt = jnp.einsum("bij,bj,bkj->bik", vectors, values, vectors)
    np.testing.assert_allclose(rebuilt, matrices, rtol=1e-9, atol=1e-9)


def test_a_batch_never_becomes_a_batched_lapack_call():
    """Two batched LAPACK calls in one program can wait for each other forever (jaxlib 0.10.2 on two cores)."""
    text = jax.jit(jax.vmap(jax.vmap(lambda m: eigh(m)[0]))).lower(_batch(6).reshape(2, 3, 6, 6)).as_text()
    calls = [line for line in text.splitlines() if "lapack" in line and "custom_call" in line]
    assert calls, "the test looks for LAPACK calls and must see them"
    assert all("tensor<6x6xf64>" in line and "x6x6xf64>" not in line.replace("<6x6xf64>", "") for line in calls)


def test_many_at_once_finish():
    @jax.jit
    @jax.vmap
    def three(matrix):
        return eigh(matrix)[0] + eigh(2 * matrix)[0] + eigh(matrix @ matrix)[0]

    for _ in range(5):
        assert np.all(np.isfinite(three(_batch(2000))))


def test_derivatives_against_differences():
    matrix = jnp.asarray(random_covariance(4, 0))
    change = jnp.asarray(random_covariance(4, 1)) - jnp.eye(4)

    def function(m):
        values, vectors = eigh((m + m.T) / 2)
        return jnp.sum(jnp.sin(values)) + jnp.sum((vectors * jnp.exp(values)[None, :]) @ vectors.T * change)

    slope = jnp.sum(jax.grad(function)(matrix) * change)
    step = 1e-5
    expected = (function(matrix + step * change) - function(matrix - step * change)) / (2 * step)
    np.testing.assert_allclose(slope, expected, rtol=1e-7)
    jax.vmap(jax.grad(function))(_batch(3, 4))


def test_roots_of_rank_deficient_covariances():
    cov = jnp.asarray(random_covariance(5, 3, rank=2))
    root = psd_root(cov)
    np.testing.assert_allclose(root @ root, cov, atol=1e-10)
    np.testing.assert_allclose(root, root.T, atol=1e-12)


def test_the_congruence_and_its_derivatives_are_those_of_the_plain_products(keys):
    from descant.attention._congruence import congruence

    step, root, moves, roots = jax.random.normal(keys(), (4, 5, 5))
    gram, d_gram = root @ root.T, roots + roots.T

    def plain(step, gram):
        return step @ gram @ step.T

    np.testing.assert_allclose(congruence(step, gram), plain(step, gram), rtol=1e-12)
    forwards = [jax.jvp(f, (step, gram), (moves, d_gram))[1] for f in (congruence, plain)]
    np.testing.assert_allclose(*forwards, rtol=1e-10, atol=1e-10)

    # A loss of symmetric matrices, as the next layer is:
    # gradients in the Gram matrix then agree in their symmetric parts.
    def gradients(f):
        by_step, by_gram = jax.grad(lambda step, gram: jnp.sum(jnp.sin(f(step, gram))), (0, 1))(step, gram)
        return jnp.concatenate([by_step, by_gram + by_gram.T])

    np.testing.assert_allclose(gradients(congruence), gradients(plain), rtol=1e-9, atol=1e-9)
