"""Quantiles of chi laws from a table, against SciPy's and against sums of squares."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from descant.tasks import LinearRegression, UniformNoise, _chi
from descant.tasks._chi import chi_quantiles


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 100, 10_000])
def test_quantiles(freedom):
    """In both tails too: each from its own end, where a quantile near 1 has lost its digits."""
    normals = np.linspace(-9.4, 9.4, 4001)
    found = np.asarray(jax.vmap(lambda number: chi_quantiles(number[None], (freedom,))[0])(jnp.asarray(normals)))
    lower, upper = stats.norm.cdf(normals), stats.norm.sf(normals)
    wanted = np.where(normals < 0, stats.chi.ppf(lower, freedom), stats.chi.isf(upper, freedom))
    assert np.allclose(found, wanted, rtol=0, atol=1e-9)
    assert (np.diff(found) > 0).all()


def test_beyond_the_table():
    found = chi_quantiles(jnp.array([-50.0, 50.0]), (5, 5))
    assert np.allclose(found, chi_quantiles(jnp.array([-9.5, 9.5]), (5, 5)))


def test_many_degrees_of_freedom():
    """The series meets the quantiles where it takes over, and has the right mean and spread far beyond."""
    z, freedom = np.linspace(-9, 9, 50), np.array([[float(_chi.MANY)]])
    roots = [np.sqrt(law(freedom, z)) for law in (_chi._squares, _chi._series)]
    assert np.allclose(*roots, rtol=0, atol=1e-9)
    normals = jnp.asarray(np.random.default_rng(0).standard_normal(20_000))
    for many in (10**6, 10**9, 10**12):
        found = np.asarray(jax.vmap(lambda number, many=many: chi_quantiles(number[None], (many,))[0])(normals))
        # A chi number is its mean plus normal numbers of variance 1/2, but for terms of the order of many^-1/2.
        assert np.allclose(
            found - np.sqrt(many - 0.5), np.asarray(normals) / np.sqrt(2), rtol=0, atol=20 / np.sqrt(many)
        )


@pytest.mark.parametrize("d", [1, 3])
def test_moments_have_the_law_of_tokens(d, keys):
    """First and second moments of all that is drawn, by both ways."""
    task = LinearRegression(d, d + 4, noise=UniformNoise(2.0))
    drawn = jax.random.split(keys(), 100_000)

    def features(moments):
        rows, columns = np.triu_indices(d + 1)
        numbers = jnp.concatenate([moments.gram[rows, columns], moments.w, moments.sigma[None]])
        return jnp.concatenate([numbers, jnp.outer(numbers, numbers)[np.triu_indices(numbers.size)]])

    def statistics(draw):
        values = np.asarray(jax.jit(jax.vmap(lambda key: features(draw(key))))(drawn))
        return values.mean(0), values.var(0) / len(values)

    ours, ours_error = statistics(lambda key: task.sample_moments(key=key))
    tokens, tokens_error = statistics(lambda key: task.sample(key=jax.random.fold_in(key, 1)).moments())
    assert (np.abs(ours - tokens) < 5.5 * np.sqrt(ours_error + tokens_error)).all()


def test_moments_of_numbers():
    task = LinearRegression(3, 8)
    assert task.moment_numbers == 3 + 3 + 3 + 4 + 1
    with pytest.raises(ValueError, match="moment_numbers"):
        task.place_moments(jnp.zeros(5))
    # As many tokens as dimensions: there is no such decomposition.
    assert LinearRegression(3, 3).moment_numbers is None
