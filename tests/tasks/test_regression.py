"""Laws of prompts: shapes, reproducibility, moments, and that token and moment space are one law."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params
from scipy import stats

from descant import GaussianPrior, LinearRegression, Prompt, UniformInputs, UniformNoise
from descant._random import normals
from descant.tasks import CategoricalNoise, FixedNoise, parse_noise
from tests.support.problems import TASKS, random_task, z_scores
from tests.support.quick import quick


@pytest.mark.parametrize("name", TASKS)
def test_a_prompt_is_what_it_says(name, keys):
    task = TASKS[name]
    prompt = task.sample(key=keys())
    assert prompt.x.shape == (task.n, task.d)
    assert prompt.y.shape == (task.n,)
    assert prompt.w is not None and prompt.y_query is not None
    np.testing.assert_allclose(prompt.y_query, prompt.x_query @ prompt.w, rtol=1e-12)
    moments = prompt.moments()
    tokens = np.column_stack([prompt.x, prompt.y])
    gram = tokens.T @ tokens
    # An entry can be a small difference of large products: rounding is in units of the largest.
    np.testing.assert_allclose(moments.gram, gram, rtol=0, atol=1e-13 * np.abs(gram).max())
    assert moments.n == task.n and moments.d == task.d


@pytest.mark.parametrize("name", quick(["categorical", "short", "uniform inputs"]))
def test_a_key_gives_the_same_draw_alone_and_in_a_batch(name, keys):
    task, key = TASKS[name], keys()
    for draw in (task.sample, task.sample_moments):
        alone = draw(key=key)
        batched = jax.vmap(lambda key, draw=draw: draw(key=key))(key[None])
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b[0], rtol=1e-10, atol=1e-12), alone, batched)


def test_noise_moments():
    for noise in (FixedNoise(0.7), UniformNoise(3.0), CategoricalNoise([1.0, 3.0], [0.25, 0.75])):
        levels = jax.vmap(lambda key, noise=noise: noise.sample(key=key))(jax.random.split(jax.random.key(1), 100_000))
        for power in (1, 2, 4):
            if isinstance(noise, FixedNoise):
                np.testing.assert_allclose(noise.moment(power), 0.7**power, rtol=1e-14)
            else:
                assert abs(z_scores(levels**power, noise.moment(power))) < 4


def test_input_second_moments():
    for inputs in (random_task(0).inputs, UniformInputs(-1.0, 2.0)):
        drawn = jax.random.split(jax.random.key(2), 200_000)
        x = jax.vmap(lambda key, inputs=inputs: inputs.sample(3, key=key))(drawn)
        assert np.abs(z_scores(np.einsum("ni,nj->nij", x, x), inputs.second_moment(3))).max() < 4


def test_a_prior_may_miss_directions():
    cov = np.diag([1.0, 0.0, 4.0])
    prior = GaussianPrior([1.0, 2.0, 3.0], cov)
    w = jax.vmap(lambda key: prior.sample(prior.mean.shape[0], key=key))(jax.random.split(jax.random.key(3), 50_000))
    assert np.ptp(np.asarray(w)[:, 1]) < 1e-12
    np.testing.assert_allclose(w[0, 1], 2.0)
    assert np.abs(z_scores(np.asarray(w)[:, [0, 2]], [1.0, 3.0])).max() < 4


def _nonlinear(moments):
    """Three functions of the Gram matrix that are far from linear in it."""
    xx, xy, yy = moments.xx, moments.xy, moments.yy
    n, d = moments.n, moments.d
    log_determinant = 2 * jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(xx / n))))
    ridge = jnp.linalg.solve(xx + jnp.eye(d), xy)
    return jnp.stack([log_determinant, jnp.sum((ridge - moments.w) ** 2), jnp.log(yy / n)])


@pytest.mark.slow
@pytest.mark.parametrize("n", quick([20, 11, 200]))
def test_tokens_and_moments_have_one_law(n):
    """First and second moments of G, and three nonlinear functions of it, at d = 10."""
    task = random_task(1, d=10, n=n, noise=UniformNoise(2.0))

    @eqx.filter_jit
    def statistics(task, key, in_moment_space):
        moments = task.sample_moments(key=key) if in_moment_space else task.sample(key=key).moments()
        upper = moments.gram[jnp.triu_indices(task.d + 1)] / n
        return upper, _nonlinear(moments)

    def draw(seed, in_moment_space):
        keys = jax.random.split(jax.random.key(seed), 20_000)
        # A loop, not a vmap: `_nonlinear` calls LAPACK twice (see `_linalg.eigh`).
        return jax.lax.map(lambda key: statistics(task, key, in_moment_space), keys)

    tokens, moments = draw(1, False), draw(2, True)
    for a, b in ((tokens[0], moments[0]), (tokens[0] ** 2, moments[0] ** 2), (tokens[1], moments[1])):
        a, b = np.asarray(a), np.asarray(b)
        error = np.sqrt((a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / a.shape[0])
        assert np.abs((a.mean(axis=0) - b.mean(axis=0)) / error).max() < 4


def test_sampling_moments_makes_no_array_of_the_size_of_the_context():
    n = 1_000_000
    task = LinearRegression(10, n, noise=UniformNoise(5.0))
    jaxpr = jax.make_jaxpr(lambda key: task.sample_moments(key=key))(jax.random.key(0))

    def largest(jaxpr) -> int:
        sizes = [int(np.prod(v.aval.shape)) for eqn in jaxpr.eqns for v in eqn.outvars]
        inner = [largest(sub) for eqn in jaxpr.eqns for sub in jaxprs_in_params(eqn.params)]
        return max([0, *sizes, *inner])

    assert largest(jaxpr.jaxpr) < 1000


def test_moments_scale_with_the_context():
    """At a million tokens G / n is its mean, up to 1 / sqrt(n)."""
    task = LinearRegression(3, 1_000_000, noise=FixedNoise(0.5))
    moments = task.sample_moments(key=jax.random.key(4))
    assert moments.w is not None
    np.testing.assert_allclose(moments.xx / moments.n, np.eye(3), atol=0.01)
    np.testing.assert_allclose(moments.xy / moments.n, moments.w, atol=0.02)
    np.testing.assert_allclose(moments.yy / moments.n, moments.w @ moments.w + 0.25, atol=0.02)


@pytest.mark.parametrize(
    ("spec", "law"),
    [
        ("0.5", FixedNoise(0.5)),
        ("0", FixedNoise(0.0)),
        ("uniform:5", UniformNoise(5.0)),
        ("uniform:0", FixedNoise(0.0)),
        ("1,3", CategoricalNoise([1.0, 3.0])),
        ("1,3,5", CategoricalNoise([1.0, 3.0, 5.0])),
    ],
)
def test_noise_can_be_written_in_short(spec, law):
    assert eqx.tree_equal(parse_noise(spec), law)


def test_a_task_is_a_pytree_that_vmaps_over_its_numbers():
    tasks = eqx.filter_vmap(lambda sigma: LinearRegression(3, 5, noise=FixedNoise(sigma)))(jnp.array([0.0, 1.0]))
    prompts = eqx.filter_vmap(lambda task: task.sample(key=jax.random.key(0)))(tasks)
    assert isinstance(prompts, Prompt)
    assert prompts.y.shape == (2, 5)
    np.testing.assert_allclose(prompts.sigma, [0.0, 1.0])


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("count", [1, 2, 7, 100_001])
def test_normals_are_standard_normal(dtype, count, keys):
    found = normals(keys(), count, dtype)
    assert found.shape == (count,)
    assert found.dtype == dtype
    if count > 1000:
        assert stats.kstest(np.asarray(found, float), "norm").pvalue > 1e-5
        # No bits serve twice; of 2^23 values, a hundred thousand draws meet again in half a percent of the cases.
        assert len(np.unique(found)) > 0.99 * count


def test_a_prompt_needs_as_many_numbers_as_it_says():
    task = LinearRegression(2, 3)
    assert task.numbers == 8 + 2 + 3 + 1
    with pytest.raises(ValueError, match=r"normals has shape \(5,\)"):
        task.place(jnp.zeros(5))
