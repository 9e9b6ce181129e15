"""Posterior means of the laws, against posteriors by brute force on a grid, and against Monte Carlo."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from descant import LinearRegression, Prompt, best, risk
from descant.estimators import Bayes, MonteCarloBayes
from descant.measure import bayes_risk
from descant.tasks import (
    GaussianMixturePrior,
    InverseGammaNoise,
    LaplaceLabelNoise,
    LaplacePrior,
    LogUniformNoise,
    PoolPrior,
    SparsePrior,
    StudentTLabelNoise,
    StudentTPrior,
    Unknown,
)
from tests.support.quick import quick

CENTRES = np.array([[1.0, 0.2], [-1.5, 0.3], [0.1, 2.0], [0.7, -0.6]])
SCALE = np.array([[1.0, 0.3], [0.3, 0.5]])


def context(seed: int, n: int = 5, noise: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    return x, x @ np.array([1.2, -0.3]) + noise * rng.standard_normal(n)


def grid(width: float, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the plane, closer to each other near 0, and the area that each stands for."""
    u = np.linspace(-np.arcsinh(width), np.arcsinh(width), points)
    line, step = np.sinh(u), np.cosh(u) * (u[1] - u[0])
    return np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2), np.outer(step, step).ravel()


# How far the plane reaches, and its points along a line: where tails are heavy, and where they are not.
HEAVY, LIGHT = (300.0, 801), (30.0, 401)


def on_grid(log_prior, x, y, levels, log_levels, log_label=None, plane=HEAVY) -> np.ndarray:
    """The posterior mean by summing up prior times likelihood over a plane of tasks and a line of noise levels."""
    w, area = grid(*plane)
    residual = y[None, :] - w @ x.T
    label = stats.norm.logpdf if log_label is None else log_label
    total = np.full(len(w), -np.inf)
    for sigma, log_level in zip(levels, log_levels, strict=True):
        total = np.logaddexp(total, log_level + np.sum(label(residual / sigma) - np.log(sigma), axis=1))
    logs = log_prior(w) + np.log(area) + total
    weights = np.exp(logs - logs.max())
    return weights @ w / weights.sum()


def fixed(sigma):
    return np.array([sigma]), np.zeros(1)


@pytest.mark.parametrize("df", quick([5.0, 2.5, 30.0], 2.5))
def test_student_t_tasks(df):
    """Its quadrature over scales is right to 1e-8; the sum over the plane to a little less."""
    prior = StudentTPrior([1.0, 1.0], SCALE, df)
    task = LinearRegression(2, 5, prior, noise=0.7)
    for seed in range(2):
        x, y = context(seed)
        moments = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.zeros(2)).moments()
        expected = on_grid(stats.multivariate_t([1.0, 1.0], SCALE, df).logpdf, x, y, *fixed(0.7))
        np.testing.assert_allclose(task.posterior(moments).mean, expected, atol=3e-8)


def test_a_task_that_is_known_without_labels_to_be_anywhere():
    """One label of four coordinates, no noise: the scales matter most. By a fine sum over scales instead of ours."""
    d, df = 4, 3.0
    task = LinearRegression(d, 1, StudentTPrior(np.ones(d), np.eye(d), df), noise=1.5)
    x, y = np.array([[1.0, -2.0, 0.5, 0.3]]), np.array([6.0])
    moments = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.zeros(d)).moments()
    t = np.linspace(-12, 40, 200_001)
    s = np.exp(t)
    spread = s * (x @ x.T)[0, 0] + 1.5**2
    off = y[0] - x[0].sum()
    logs = stats.invgamma(df / 2, scale=df / 2).logpdf(s) + t + stats.norm.logpdf(off, scale=np.sqrt(spread))
    weights = np.exp(logs - logs.max())
    pull = weights @ (s * off / spread) / weights.sum()
    np.testing.assert_allclose(task.posterior(moments).mean, 1 + pull * x[0], atol=1e-8)


@pytest.mark.parametrize("law", ["log-uniform", "inverse-gamma"])
def test_mixtures_and_unknown_levels(law):
    """A sum over parts and a line of noise levels, each a conditioned joint Gaussian of (w, y)."""
    means, covs, weights = CENTRES[:2], np.array([SCALE, np.outer([1, 2], [1, 2])]), [0.3, 0.7]
    noise = LogUniformNoise(0.05, 4.0) if law == "log-uniform" else InverseGammaNoise(2.0, 0.5)
    t = np.linspace(np.log(0.05), np.log(4.0), 4001) if law == "log-uniform" else np.linspace(-4, 12, 4001)
    density = 0 * t if law == "log-uniform" else stats.invgamma(2.0, scale=0.5).logpdf(np.exp(2 * t)) + 2 * t
    x, y = context(3)
    total, mean = 0.0, np.zeros(2)
    ends = np.where((t == t[0]) | (t == t[-1]), 0.5, 1.0)  # the trapezoidal rule
    for weight, centre, cov in zip(weights, means, covs, strict=True):
        spread = x @ cov @ x.T + np.exp(2 * t)[:, None, None] * np.eye(5)
        off = np.linalg.solve(spread, np.broadcast_to((y - x @ centre)[:, None], (t.size, 5, 1)))[:, :, 0]
        logs = density - 0.5 * (off @ (y - x @ centre) + np.linalg.slogdet(spread)[1])
        share = weight * ends * np.exp(logs)
        mean += share @ (centre + off @ (x @ cov))
        total += share.sum()
    prompt = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.ones(2))
    found = LinearRegression(2, 5, GaussianMixturePrior(weights, means, covs), noise=noise).posterior(prompt.moments())
    np.testing.assert_allclose(found.mean, mean / total, atol=1e-6)  # the trapezoidal rule's own error
    assert np.all(np.asarray(found.error) < 1e-8)


def test_pools_and_supports_by_hand():
    x, y = context(4)
    moments = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.zeros(2)).moments()
    fit = np.exp(np.sum(stats.norm.logpdf(y[None] - CENTRES @ x.T, scale=0.7), axis=1)) * [0.1, 0.2, 0.3, 0.4]
    pool = LinearRegression(2, 5, PoolPrior(CENTRES, [0.1, 0.2, 0.3, 0.4]), noise=0.7)
    np.testing.assert_allclose(pool.posterior(moments).mean, fit @ CENTRES / fit.sum(), rtol=1e-10)
    # Spike and slab: each of the four supports is a Gaussian regression.
    total, mean = 0.0, np.zeros(2)
    for support in np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float):
        cov = 0.64 * np.diag(support)
        spread = x @ cov @ x.T + 0.49 * np.eye(5)
        share = (
            0.3 ** support.sum() * 0.7 ** (2 - support.sum()) * stats.multivariate_normal(x @ support, spread).pdf(y)
        )
        mean += share * (support + cov @ x.T @ np.linalg.solve(spread, y - x @ support))
        total += share
    sparse = LinearRegression(2, 5, SparsePrior(0.3, 1.0, 0.8), noise=0.7)
    np.testing.assert_allclose(sparse.posterior(moments).mean, mean / total, rtol=1e-10)
    with pytest.raises(Unknown, match="2\\^d supports"):
        Bayes.of(LinearRegression(11, 20, SparsePrior(0.3), noise=0.7))


def test_without_noise_the_simplest_exact_fit_wins():
    """A task on one coordinate: larger supports fit as exactly, but with probability 0; and a pool is found exactly."""
    x, _ = context(5, n=4)
    for n in (4, 2):  # more tokens than coordinates, and not
        w = np.array([0.0, 1.7])
        moments = Prompt(jnp.asarray(x[:n]), jnp.asarray(x[:n] @ w), jnp.zeros(2)).moments()
        found = LinearRegression(2, n, SparsePrior(0.3, 1.0, 0.8)).posterior(moments)
        np.testing.assert_allclose(found.mean, w, atol=1e-12)
        np.testing.assert_allclose(found.cov, 0, atol=1e-12)
    # Two tokens in three dimensions: two coordinates could explain any labels, but one explains these.
    wide, w = np.random.default_rng(5).standard_normal((2, 3)), np.array([0.0, 1.7, 0.0])
    moments = Prompt(jnp.asarray(wide), jnp.asarray(wide @ w), jnp.zeros(3)).moments()
    found = LinearRegression(3, 2, SparsePrior(0.3, 1.0, 0.8)).posterior(moments)
    np.testing.assert_allclose(found.mean, w, atol=1e-12)
    moments = Prompt(jnp.asarray(x[:1]), jnp.asarray(x[:1] @ CENTRES[2]), jnp.zeros(2)).moments()
    found = LinearRegression(2, 1, PoolPrior(CENTRES)).posterior(moments)
    np.testing.assert_allclose(found.mean, CENTRES[2], atol=1e-12)
    # One token, and no support of one coordinate is preferred but by its density at the label.
    moments = Prompt(jnp.asarray(x[:1]), jnp.asarray([0.9]), jnp.zeros(2)).moments()
    parts = []
    for support in np.array([[0, 1], [1, 0], [1, 1]], float):
        gain = 0.64 * support * x[0]
        spread = gain @ x[0]
        share = 0.3 ** support.sum() * 0.7 ** (2 - support.sum()) * stats.norm(support @ x[0], spread**0.5).pdf(0.9)
        parts.append((share, support + gain / spread * (0.9 - support @ x[0])))
    expected = sum(share * mean for share, mean in parts) / sum(share for share, _ in parts)
    found = LinearRegression(2, 1, SparsePrior(0.3, 1.0, 0.8)).posterior(moments)
    np.testing.assert_allclose(found.mean, expected, rtol=1e-9)


def test_monte_carlo_where_there_is_no_closed_form():
    """Against the plane: Laplace tasks; Student-t labels and an unknown level; a pool with Laplace labels."""
    laplace = stats.laplace(scale=2**-0.5)
    student = stats.t(3.0, scale=(1 / 3) ** 0.5)
    x, y = context(6, n=8)
    t = np.linspace(np.log(0.3), np.log(2.0), 30)
    middle = (t[1:] + t[:-1]) / 2
    cases = [
        (
            LinearRegression(2, 8, LaplacePrior(1.0, 0.5), noise=0.7),
            on_grid(lambda w: -np.abs(w - 1).sum(axis=1) / 0.5, x, y, *fixed(0.7)),
        ),
        (
            LinearRegression(2, 8, noise=LogUniformNoise(0.3, 2.0), labels=StudentTLabelNoise(3.0)),
            on_grid(lambda w: -0.5 * (w**2).sum(axis=1), x, y, np.exp(middle), 0 * middle, student.logpdf, LIGHT),
        ),
    ]
    fit = np.exp(np.sum(laplace.logpdf((y[None] - CENTRES @ x.T) / 0.7), axis=1))
    pool = LinearRegression(2, 8, PoolPrior(CENTRES), noise=0.7, labels=LaplaceLabelNoise())
    cases.append((pool, fit @ CENTRES / fit.sum()))
    query = np.array([0.6, -1.1])
    prompt = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.asarray(query))
    for task, expected in cases:
        with pytest.raises(Unknown):
            Bayes.of(task)
        found = MonteCarloBayes.of(task, 1 << 14).estimate(prompt)
        assert found.effective > 4000
        assert 0 < found.standard_error < 0.02
        assert abs(found.value - expected @ query) < 4 * found.standard_error + 1e-4


def test_monte_carlo_says_how_far_it_is_off():
    """Over many contexts, differences to the exact posterior mean are as large as the standard errors say."""
    task = LinearRegression(2, 5, StudentTPrior.isotropic(2, 5, 1.0), noise=0.7)
    monte_carlo = MonteCarloBayes.of(task, 512)

    def both(key):
        prompt = task.sample(key=key)
        found = monte_carlo.estimate(prompt, key=jax.random.fold_in(key, 1))
        return (found.value - task.posterior(prompt.moments()).mean @ prompt.x_query) / found.standard_error

    z = np.asarray(jax.jit(jax.vmap(both))(jax.random.split(jax.random.key(0), 512)))
    assert 0.85 < np.sqrt(np.mean(z**2)) < 1.15 and abs(z.mean()) < 0.2


@pytest.mark.slow
@pytest.mark.optimised
def test_bayes_risks_by_two_estimates():
    """Few draws: the predictor's own risk is visibly above, the product of two errors is not."""
    task = LinearRegression(2, 5, noise=0.7, labels=StudentTLabelNoise(3.0))
    few, many = MonteCarloBayes.of(task, 64), MonteCarloBayes.of(task, 2048)
    best_known = risk(many, task, samples=1 << 14)
    twice = bayes_risk(task, samples=1 << 14)
    assert abs(twice.value - best_known.value) < 4 * np.hypot(twice.standard_error, best_known.standard_error)
    ridge = risk(best("ridge", task), task, samples=1 << 14)
    assert twice.value < ridge.value - 3 * ridge.standard_error
    assert risk(few, task, samples=1 << 14).value > best_known.value


def test_without_noise_there_is_nothing_to_weigh():
    with pytest.raises(Unknown, match="nor by Monte Carlo: without noise"):
        best("bayes", LinearRegression(2, 5, LaplacePrior(1.0)))


def test_a_pool_of_four_as_in_the_issue():
    """d = 3, n = 8, noise 0.7: Bayes is measured as what it is, on moments and on tokens, far below Gaussian ridge."""
    task = LinearRegression(3, 8, PoolPrior.drawn(3, 4, key=jax.random.key(1)), noise=0.7)
    bayes, ridge = best("bayes", task), best("ridge", task)
    on_moments, on_tokens = (risk(bayes, task, method, samples=1 << 14) for method in ("moments", "tokens"))
    assert abs(on_moments.value - on_tokens.value) < 4 * on_tokens.standard_error
    assert on_moments.value < 0.7 * risk(ridge, task, samples=1 << 12).value
    assert on_moments.adjusted == pytest.approx(0, abs=1e-12)
