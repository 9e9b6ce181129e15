"""Every law of the list does what it says of itself, against draws and independent numerics."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression
from descant.tasks import StudentTPrior, Unknown, discrete_moments, independent_moments
from descant.theory import GramMoments
from tests.support.laws import COV, INPUTS, LABELS, MEAN, NOISES, PRIORS, D
from tests.support.quick import quick

DRAWS = 40_000
# A few hundred numbers are compared, with fixed seeds.
BOUND = 5.0
VECTORS = {
    **{f"prior-{name}": law for name, law in PRIORS.items()},
    **{f"inputs-{n}": law for n, law in INPUTS.items()},
}
# Of tasks and inputs alike: two matrices, for the third and fourth moments.
MATRICES = np.stack([COV, np.array([[0.5, -1.0, 0.2], [-1.0, 0.1, 0.3], [0.2, 0.3, -2.0]])])


def single(law):
    """The same law in float32."""
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, law)


def apart(values: np.ndarray, expected) -> np.ndarray:
    """By how many standard errors the mean over the first axis is off; of numbers that don't vary, 0 if they agree."""
    values = np.asarray(values, dtype=np.float64)
    values = values.reshape(len(values), -1)
    error = values.std(axis=0) / np.sqrt(len(values))
    return np.abs(values.mean(axis=0) - np.ravel(expected)) / (error + 1e-9 * (1 + np.abs(np.ravel(expected))))


@eqx.filter_jit
def vector_draws(law, keys, normals):
    def placed(row):
        return law.place(row)

    return jax.vmap(lambda key: law.sample(D, key=key))(keys), None if normals is None else jax.vmap(placed)(normals)


@pytest.mark.parametrize("name", VECTORS)
def test_moments_of_vectors(name):
    law = VECTORS[name]
    law.check(D)
    count = law.numbers(D)
    rng = np.random.default_rng(1)
    normals = None if count is None else jnp.asarray(rng.standard_normal((DRAWS, count)))
    sampled, placed = vector_draws(law, jax.random.split(jax.random.key(2), DRAWS), normals)
    known = law.moments(D)
    np.testing.assert_allclose(law.second_moment(D), known.second, rtol=1e-12, atol=1e-12)
    for v in (sampled, placed):
        if v is None:
            continue
        v = np.asarray(v)
        assert v.shape == (DRAWS, D)
        assert np.all(apart(v, known.mean) < BOUND)
        if known.fourth is None:  # the spread of squares is infinite: no error to compare with
            continue
        assert np.all(apart(v[:, :, None] * v[:, None, :], known.second) < BOUND)
        size = np.einsum("si,pij,sj->sp", v, MATRICES, v)
        assert known.third is not None
        assert np.all(apart(size[:, :, None] * v[:, None, :], known.third(MATRICES)) < BOUND)
        fourth = np.einsum("sp,si,sj->spij", size, v, v)
        assert np.all(apart(fourth, known.fourth(MATRICES)) < BOUND)


def test_moments_of_independent_coordinates_are_sums_over_a_grid():
    """Coordinates of three values each: all 27 vectors, against the formula from a coordinate's moments."""
    values = np.array([[-1.0, 0.5, 2.0], [0.0, 1.0, 3.0], [-2.0, -0.3, 0.4]])
    shares = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    points = np.stack(np.meshgrid(*values, indexing="ij"), -1).reshape(-1, D)
    weights = np.einsum("i,j,k->ijk", *shares).ravel()
    mean = np.sum(shares * values, axis=1)
    central = [np.sum(shares * (values - mean[:, None]) ** power, axis=1) for power in (2, 3, 4)]
    found, expected = independent_moments(mean, *central), discrete_moments(points, weights)
    np.testing.assert_allclose(found.second, expected.second)
    assert found.third and found.fourth and expected.third and expected.fourth
    np.testing.assert_allclose(found.third(MATRICES), expected.third(MATRICES))
    np.testing.assert_allclose(found.fourth(MATRICES), expected.fourth(MATRICES))


def test_second_moments_without_a_fourth():
    """Where squares have no variance, the law of the length is compared instead: |v|^2 / d is F distributed."""
    from scipy.stats import f as fisher, kstest

    law = PRIORS["student-t-3.5"]
    v = np.asarray(vector_draws(law, jax.random.split(jax.random.key(3), DRAWS), None)[0])
    length = np.einsum("si,ij,sj->s", v - MEAN, np.linalg.inv(COV), v - MEAN) / D
    assert kstest(length, fisher(D, 3.5).cdf).pvalue > 1e-3
    np.testing.assert_allclose(law.moments(D).cov, COV * 3.5 / 1.5)
    with pytest.raises(Unknown, match="has no covariance"):
        StudentTPrior(MEAN, COV, 2.0).moments(D)


@pytest.mark.parametrize("name", VECTORS)
def test_single_precision(name):
    """As float32 leaves, under jit and vmap, prompts are float32 and finite."""
    law = VECTORS[name]
    task = LinearRegression(D, 4, law) if name.startswith("prior") else LinearRegression(D, 4, inputs=law)
    prompts = eqx.filter_jit(jax.vmap(lambda key: single(task).sample(key=key)))(jax.random.split(jax.random.key(0), 8))
    assert {leaf.dtype for leaf in jax.tree.leaves(prompts)} == {jnp.dtype("float32")}
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(prompts))


@pytest.mark.parametrize("name", NOISES)
def test_moments_of_noise_levels(name):
    law = NOISES[name]
    sampled = jax.vmap(lambda key: law.sample(key=key))(jax.random.split(jax.random.key(4), DRAWS))
    draws = [sampled, jax.vmap(law.place)(jax.random.normal(jax.random.key(5), (DRAWS,)))] if law.placed else [sampled]
    for sigma in draws:
        for power in (1, 2, 3, 4):
            assert np.all(apart(np.asarray(sigma) ** power, law.moment(power)) < BOUND)
    assert law.sample(key=jax.random.key(0)).dtype == jnp.float64
    # The nodes integrate the law itself.
    nodes = law.nodes(jnp.zeros_like)
    for power in (0, 1, 2):
        found = jnp.sum(jnp.exp(nodes.log_weights) * nodes.sigmas**power)
        np.testing.assert_allclose(found, law.moment(power) if power else 1.0, rtol=1e-9)


@pytest.mark.parametrize("name", LABELS)
def test_moments_of_label_noise(name):
    law = LABELS[name]
    known = law.moments()
    draws = [law.sample(DRAWS, key=jax.random.key(6))]
    if law.placed:
        draws.append(law.place(jax.random.normal(jax.random.key(7), (DRAWS,))))
    for eta in draws:
        eta = np.asarray(eta)
        for power, expected in ((1, 0.0), (2, known.second), (3, known.third), (4, known.fourth)):
            if expected is not None and (known.fourth is not None or power < 2):
                assert np.all(apart(eta**power, expected) < BOUND)
    # Density and variance of one half, by the trapezoidal rule in asinh of eta; and the other half is the same.
    u = np.linspace(0, 30, 200_001)
    eta = np.sinh(u)
    density = np.exp(np.asarray(law.log_density(jnp.asarray(eta)))) * np.cosh(u)
    np.testing.assert_allclose([np.trapezoid(density, u), np.trapezoid(density * eta**2, u)], 0.5, rtol=1e-6)
    np.testing.assert_array_equal(law.log_density(jnp.asarray(-eta)), law.log_density(jnp.asarray(eta)))


@pytest.mark.parametrize("name", ["gaussian", "student-t-12", "student-t-3.5", "laplace"])
def test_densities_of_priors(name):
    """Importance sampling with a heavy-tailed proposal: the density integrates to 1 and has the law's mean."""
    law = PRIORS[name]
    rng = np.random.default_rng(8)
    step = rng.standard_normal((DRAWS, D)) / np.sqrt(rng.chisquare(3, (DRAWS, 1)) / 3)
    from scipy.stats import multivariate_t

    weights = np.exp(jax.vmap(law.log_density)(jnp.asarray(step))) / multivariate_t(np.zeros(D), np.eye(D), 3).pdf(step)
    assert np.all(apart(weights, 1.0) < BOUND)
    assert np.all(apart(weights[:, None] * step, law.moments(D).mean) < BOUND)


MIXED = [
    ("sparse", "given", "log-uniform", "laplace"),
    ("pool", "uniform", "uniform", "gaussian"),
    ("mixture", "sphere-2", "inverse-gamma", "student-t-12"),
    ("student-t-12", "rademacher", "categorical", "laplace"),
    ("laplace", "mapped-sphere", "fixed", "gaussian"),
    ("sparse", "student-t-12", "none", "gaussian"),
]


@pytest.mark.parametrize(("prior", "inputs", "noise", "labels"), quick(MIXED, *MIXED[:3]))
def test_gram_moments_of_mixed_laws(prior, inputs, noise, labels):
    """All that exact risks are made of, entry by entry, against sampled contexts."""
    task = LinearRegression(D, 5, PRIORS[prior], INPUTS[inputs], NOISES[noise], LABELS[labels])
    known = GramMoments.of(task)
    assert known.unread == ""
    prompts = jax.jit(jax.vmap(lambda key: task.sample(key=key)))(jax.random.split(jax.random.key(9), DRAWS))
    x, y, w = (np.asarray(part) for part in (prompts.x, prompts.y, prompts.w))
    e = np.concatenate([x, y[:, :, None]], axis=2)
    rows, columns = np.triu_indices(D + 1)
    g = (np.einsum("sni,snj->sij", e, e) / task.n)[:, rows, columns]
    assert np.all(apart(w, known.w) < BOUND)
    assert np.all(apart(g, known.g) < BOUND)
    assert np.all(apart(w[:, :, None] * g[:, None, :], known.wg) < BOUND)
    assert np.all(apart(g[:, :, None] * g[:, None, :], known.gg) < BOUND)
    assert np.all(apart(w[:, :, None] * w[:, None, :], known.ww) < BOUND)
