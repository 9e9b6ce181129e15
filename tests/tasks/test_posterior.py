"""Posteriors against dense linear algebra and independent integration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from descant import CategoricalNoise, FixedNoise, GaussianPrior, LinearRegression, UniformNoise
from descant.tasks import Posterior, Spectrum
from tests.support.problems import TASKS, batch, low_rank_task, random_task, z_scores
from tests.support.quick import quick


def dense_posterior(task, prompt, sigma):
    """Conditioning of the joint Gaussian of (w, y): no moments, no spectrum."""
    x, y = np.asarray(prompt.x), np.asarray(prompt.y)
    cov, mean = np.asarray(task.prior.cov), np.asarray(task.prior.mean)
    gain = cov @ x.T @ np.linalg.pinv(x @ cov @ x.T + sigma**2 * np.eye(len(y)), hermitian=True)
    return mean + gain @ (y - x @ mean), cov - gain @ x @ cov


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("sigma", [0.0, 1e-3, 0.7, 30.0])
def test_known_noise_is_gaussian_conditioning(name, sigma, keys):
    task = TASKS[name]
    prompt = LinearRegression(task.d, task.n, task.prior, task.inputs, FixedNoise(sigma)).sample(key=keys())
    posterior = task.posterior(prompt.moments(), jnp.asarray(sigma))
    mean, cov = dense_posterior(task, prompt, sigma)
    np.testing.assert_allclose(posterior.mean, mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(posterior.cov, cov, rtol=1e-6, atol=1e-7)
    assert np.all(np.asarray(posterior.error) == 0)


def _likelihood(task, prompt, sigma):
    x, mean = np.asarray(prompt.x), np.asarray(task.prior.mean)
    cov = x @ np.asarray(task.prior.cov) @ x.T + sigma**2 * np.eye(task.n)
    return multivariate_normal(x @ mean, cov).logpdf(np.asarray(prompt.y))


def _mixture(task, prompt, levels, log_weights):
    logs = np.array([_likelihood(task, prompt, level) for level in levels]) + log_weights
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    parts = [dense_posterior(task, prompt, level) for level in levels]
    mean = sum(p * part[0] for p, part in zip(weights, parts, strict=True))
    cov = sum(p * (part[1] + np.outer(part[0] - mean, part[0] - mean)) for p, part in zip(weights, parts, strict=True))
    return mean, cov


@pytest.mark.parametrize("seed", quick(range(3)))
def test_categorical_noise_is_the_exact_sum(seed, keys):
    levels, weights = [0.2, 0.9, 2.0], [0.5, 0.2, 0.3]
    task = random_task(seed, noise=CategoricalNoise(levels, weights))
    prompt = task.sample(key=keys())
    posterior = task.posterior(prompt.moments())
    mean, cov = _mixture(task, prompt, levels, np.log(weights))
    np.testing.assert_allclose(posterior.mean, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(posterior.cov, cov, rtol=1e-9, atol=1e-11)


def reference_mean(task: LinearRegression, moments) -> np.ndarray:
    """The mixture's mean by brute force: Gauss-Legendre on 400 panels where the density is above e^-60 of its peak."""
    assert isinstance(task.noise, UniformNoise)
    high = float(task.noise.high)
    spectrum = jax.tree.map(np.asarray, Spectrum.of(task.prior.mean, task.prior.cov, moments))
    lam, g = spectrum.eigenvalues[spectrum.nonzero], spectrum.slope[spectrum.nonzero]
    freedom, residual = float(spectrum.freedom), float(spectrum.residual)

    def log_density(t):
        v = np.exp(2 * t)[:, None]
        signal = np.sum(np.log(lam + v) + g**2 / (lam * (lam + v)), axis=1)
        return -0.5 * (signal + freedom * 2 * t + residual / v[:, 0]) + t

    low, up = np.log(high) - 45, np.log(high)
    for _ in range(4):
        grid = np.linspace(low, up, 4001)
        values = log_density(grid)
        inside = np.flatnonzero(values > values.max() - 60)
        low, up = grid[max(inside[0] - 1, 0)], grid[min(inside[-1] + 1, grid.size - 1)]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    width = (up - low) / 400
    t = (low + width * (np.arange(400)[:, None] + (nodes + 1) / 2)).ravel()
    values = log_density(t)
    mass = np.exp(values - values.max()) * np.tile(weights, 400)
    z = np.zeros(task.d)
    z[spectrum.nonzero] = (mass @ (g / (lam + np.exp(2 * t)[:, None]))) / mass.sum()
    return spectrum.mean + spectrum.directions @ z


@pytest.mark.parametrize(
    ("d", "n", "high", "sigma"),
    [
        (3, 2, 5.0, 1.0),  # fewer tokens than dimensions: the likelihood says little about sigma
        (3, 3, 5.0, 0.01),
        (3, 4, 5.0, 1e-4),  # one degree of freedom, a level far below the top: mass over many scales
        (10, 11, 5.0, 3.0),
        (10, 20, 7.0, 0.05),
        (10, 20, 1e-3, 5e-4),
        (10, 200, 100.0, 2.0),
        (4, 1_000_000, 5.0, 4.9),  # a peak of width 1e-3
    ],
)
def test_uniform_noise_quadrature(d, n, high, sigma):
    task = LinearRegression(d, n, noise=UniformNoise(high))
    at_level = LinearRegression(d, n, noise=FixedNoise(sigma))
    for seed in range(3):
        moments = at_level.sample_moments(key=jax.random.key(seed))
        posterior = task.posterior(moments)
        wrong = np.abs(np.asarray(posterior.mean) - reference_mean(task, moments))
        assert wrong.max() < 1e-9
        assert np.all(wrong <= np.asarray(posterior.error) + 1e-10), "the error estimate must not understate"


def test_without_noise_in_the_data_the_mixture_finds_out():
    prior = GaussianPrior.isotropic(4, 1.0)
    silent = LinearRegression(4, 9, prior)
    moments = silent.sample_moments(key=jax.random.key(0))
    for noise in (UniformNoise(5.0), CategoricalNoise([0.0, 1.0]), CategoricalNoise([0.0, 1.0], [1e-6, 1 - 1e-6])):
        posterior = LinearRegression(4, 9, prior, noise=noise).posterior(moments)
        np.testing.assert_allclose(posterior.mean, moments.w, atol=1e-9)
        assert np.all(np.isfinite(posterior.cov))
    noisy = LinearRegression(4, 9, prior, noise=FixedNoise(1.0)).sample_moments(key=jax.random.key(0))
    mixture = LinearRegression(4, 9, prior, noise=CategoricalNoise([0.0, 1.0])).posterior(noisy)
    known = silent.posterior(noisy, jnp.asarray(1.0))
    np.testing.assert_allclose(mixture.mean, known.mean, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(["uniform", "categorical", "low rank"]))
def test_the_posterior_is_calibrated(name):
    """E[w - mean] = 0, and the posterior covariance is the mean of squared errors: both over the task's own law."""
    task = TASKS[name]

    def one(key):
        moments = task.sample_moments(key=key)
        posterior: Posterior = task.posterior(moments)
        error = moments.w - posterior.mean
        return error, jnp.outer(error, error) - posterior.cov

    errors, squares = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), 40_000))
    for values in (errors, squares):
        flat = np.asarray(values).reshape(values.shape[0], -1)
        live = flat.std(axis=0) > 1e-9
        assert np.abs(z_scores(flat[:, live], 0.0)).max() < 4


def test_rank_deficiency_keeps_the_null_space():
    task = low_rank_task(1, inputs_rank=4, prior_rank=2)
    moments = batch(task, 1, jax.random.key(0), moments=True)
    posterior = task.posterior(jax.tree.map(lambda leaf: leaf[0], moments))
    _, vectors = np.linalg.eigh(np.asarray(task.prior.cov))
    null = vectors[:, :2]
    np.testing.assert_allclose(null.T @ (posterior.mean - task.prior.mean), 0, atol=1e-10)
    np.testing.assert_allclose(null.T @ np.asarray(posterior.cov) @ null, 0, atol=1e-10)
