"""The claims of our own: their closed forms by themselves, then each claim as it is, and with its experiment broken."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression
from descant.attention import Full
from descant.claims import PAPERS, find
from descant.claims.ours import gap_by_norm, shifted_mean, task_diversity
from descant.claims.ours._closed_form import closed_gap, general_signal, independent_signal, radial_signal
from descant.claims.ours._inputs import partly_on_a_sphere, three_points, two_radii
from descant.claims.ours._stacks import distance, left_over, stack_risk, two_layers
from descant.measure import bayes_risk
from descant.tasks import GaussianInputs, PoolPrior, Prompt
from descant.theory import Problem, saturated_gap
from tests.support.claims_lab import Planted, cases, see
from tests.support.laws import COV, MEAN

HOME = "descant.claims.ours"
LAWS = {
    "radial": two_radii(3, 0.5),
    "heavy": two_radii(3, 4.0),
    "independent": three_points(3, 5.0),
    "part": partly_on_a_sphere(3, 2),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_inputs_have_the_moments_they_say(law):
    x = np.asarray(jax.vmap(lambda key: law.sample(3, key=key))(jax.random.split(jax.random.key(0), 200_000)))
    moments = law.moments(3)
    a = np.array([[1.0, 0.5, 0.2], [0.5, -0.3, 0.1], [0.2, 0.1, 0.7]])
    draws = np.einsum("ci,cj,c->cij", x, x, np.einsum("ci,ij,cj->c", x, a, x))
    error = draws.std(0) / len(x) ** 0.5
    assert np.all(np.abs(draws.mean(0) - moments.fourth(a)) < 4.5 * error + 1e-12)
    np.testing.assert_allclose(x.T @ x / len(x), moments.second, atol=0.03)


def test_signals_agree_with_each_other():
    for spread in (0.1, 1.0, 7.0):
        found = general_signal(two_radii(4, spread).moments(4))
        np.testing.assert_allclose(radial_signal(4.0, 16 * spread), found, rtol=1e-10)
    for kurtosis in (1.1, 3.0, 12.0):
        found = general_signal(three_points(4, kurtosis).moments(4))
        np.testing.assert_allclose(independent_signal(np.full(4, kurtosis)), found, rtol=1e-10)
    assert radial_signal(1.0, 0.0) == independent_signal(np.array([1.0, 3.0])) == np.inf


@pytest.mark.parametrize("sigma", [0.0, 0.7])
def test_the_formula_is_the_known_one_for_gaussian_inputs(sigma):
    inputs = GaussianInputs(COV @ COV + np.eye(3))
    task = LinearRegression(3, 5, GaussianPrior(MEAN, COV), inputs=inputs, noise=FixedNoise(sigma))
    np.testing.assert_allclose(closed_gap(task, 3 / 2), saturated_gap(Problem.of(task)), rtol=1e-12)
    assert closed_gap(task, np.inf) == 0


def test_the_formula_is_the_distance_of_1_from_the_span_of_gram_entries():
    """By least squares on drawn contexts, for coordinates that are not radial."""

    def draw(random, shape):
        return 3**0.5 * random.uniform(-1, 1, (*shape, 2))

    value, error, _ = gap_by_norm.sampled_distance(draw, 2, 3, 0.8, seed=1)
    prior = GaussianPrior(jnp.array([1.0, 0.0]), jnp.eye(2))
    task = LinearRegression(2, 3, prior, inputs=three_points(2, 1.8), noise=FixedNoise(0.8))
    formula = closed_gap(task, independent_signal(np.full(2, 1.8)))
    assert abs(value - formula) < 4 * error < 0.05 * formula


def test_bayes_risks_are_those_of_the_library():
    pool = PoolPrior.drawn(task_diversity.D, 8, key=jax.random.key(3), mean=1.0)
    gaussian = GaussianPrior(jnp.ones(task_diversity.D), jnp.eye(task_diversity.D))
    for prior, (value, error) in (
        (pool, task_diversity.pool_bayes(np.asarray(pool.tasks), seed=0)),
        (gaussian, task_diversity.gaussian_bayes(seed=0)),
    ):
        library = bayes_risk(task_diversity.posed(prior), samples=8192)
        slack = 4 * np.hypot(error, library.standard_error)
        assert abs(value - library.value) < slack < 0.2 * library.value


@pytest.mark.parametrize("n", [1, 10])
def test_two_layers_leave_what_the_bound_says_on_tokens(n):
    """Nothing of the quadrature: contexts drawn token by token, the query's token updated as in the papers."""
    network, random = two_layers(n), np.random.default_rng(0)
    x, w = random.standard_normal((40_000, n)), 1.5 + random.standard_normal(40_000)

    def error(x, w):
        prompt = Prompt(x[:, None], w * x, jnp.ones(1))
        return (w + network.tokens(prompt)[-1, -1, -1]) ** 2

    errors = np.asarray(jax.vmap(error)(jnp.asarray(x), jnp.asarray(w)))
    bound = (1 + 1.5**2) * left_over(1, n, 2)
    assert abs(errors.mean() - bound) < 4 * errors.std() / 200 < 0.2 * bound
    np.testing.assert_allclose(stack_risk(network, n, 1.5), bound, rtol=1e-11)


def test_the_four_numbers_of_two_layers_end_at_ten_tokens():
    with pytest.raises(ValueError, match="n is 11; expected at most 10"):
        two_layers(11)


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (1, 3), (2, 1), (2, 2)])
def test_no_stack_is_below_the_bound(layers, heads):
    """Random weights of many sizes."""
    n, mean = 4, 0.7
    bound = (1 + mean**2) * left_over(1, n, layers)
    for seed in range(8):
        network = Full.random(1, layers, heads, key=jax.random.key(seed), scale=0.25 * (seed + 1))
        assert stack_risk(network, n, mean) >= bound * (1 - 1e-10)


@pytest.mark.parametrize(("d", "n", "most"), [(1, 3, 1), (1, 5, 3), (2, 4, 1), (2, 4, 3)])
def test_the_bound_is_the_distance_of_1_from_polynomials(d, n, most):
    closed = 1 / np.prod([(d * n / 2 + j) / j for j in range(1, most + 1)])
    np.testing.assert_allclose(distance(d, n, most), closed, rtol=1e-10)
    if most == 1:
        np.testing.assert_allclose(left_over(d, n, 1), 2 / (d * n + 2), rtol=1e-14)


def test_frozen_weights_on_prompts_differ_as_the_formula_says():
    """Drawn in NumPy: both errors on the same contexts, the query integrated."""
    d, n, draws = 3, 5, 200_000
    random = np.random.default_rng(1)
    mu, new = np.ones(d), np.array([0.2, -1.0, 0.3])
    x, u = random.standard_normal((draws, n, d)), random.standard_normal((draws, d))
    s = x.swapaxes(1, 2) @ x / n
    a, p = n / (n + d + 1), np.trace(s, axis1=1, axis2=2) / (d + 2 / n)
    guessed = (new + u - mu) - a * np.einsum("cij,cj->ci", s, new + u - mu)
    differences = np.sum((guessed + (1 - p)[:, None] * mu) ** 2 - guessed**2, axis=1)
    task = LinearRegression(d, n, GaussianPrior.isotropic(d, mean=1.0), noise=FixedNoise(0.0))
    wanted = shifted_mean.closed_difference(task, new)
    assert abs(differences.mean() - wanted) < 4 * differences.std() / draws**0.5 < 0.2 * abs(wanted)


def test_ours_are_counted_apart():
    assert PAPERS["descant"].own and PAPERS["descant"].citation.startswith("@misc{descant2026,")
    assert {"constant-and-mean", "constant-norm", "gap-by-norm", "task-diversity"} < set(find(["descant"]))
    assert {"layers-for-a-guess", "guess-under-shift", "two-sided-tasks"} < set(find(["descant"]))


PLANTED = [
    Planted(
        "constant-and-mean",
        f"{HOME}.constant_and_mean.best_for_constant",
        # The query masked: then no constant teaches anything.
        lambda best: lambda problem, c, query_masked: best(problem, c),
        smaller={f"{HOME}.constant_and_mean.SETTINGS": ((2, 3, 4.0, 0.0), (3, 3, 10.0, 0.0))},
    ),
    Planted(
        "constant-norm",
        f"{HOME}.constant_norm.best_heads",
        # One head fewer than was asked for, unless all are.
        lambda best: lambda moments, heads, **more: best(moments, max(1, heads - (not more)), **more),
        smaller={
            f"{HOME}.constant_norm.D": 3,
            f"{HOME}.constant_norm.SETTINGS": ((2, 3, 1.0, 0.0), (3, 4, 1.0, 0.5)),
            f"{HOME}.constant_norm.STARTS": 1,
        },
    ),
    Planted(
        "gap-by-norm",
        f"{HOME}.gap_by_norm.closed_gap",
        # The 1 of the formula forgotten.
        lambda closed: lambda task, signal: 1 / (1 / closed(task, signal) - 1 / closed(task, 0.0)),
        smaller={f"{HOME}.gap_by_norm.LENGTHS": (2, 8), f"{HOME}.gap_by_norm.BATCHES": 10},
    ),
    Planted(
        "task-diversity",
        f"{HOME}.task_diversity.pool_bayes",
        # Twice the variance: as if the posterior were drawn from, and not its mean taken.
        lambda bayes: lambda tasks, seed: tuple(2 * each for each in bayes(tasks, seed=seed)),
        smaller={f"{HOME}.task_diversity.POOLS": {1: (4, 2), 2: (16, 6), 8: (64, 8), 1024: (6, 6)}},
    ),
    Planted(
        "layers-for-a-guess",
        f"{HOME}.layers_for_a_guess.two_layers",
        # Steps that are one percent too long.
        lambda build: lambda n: eqx.tree_at(lambda network: network.q, build(n), 1.01 * build(n).q),
        smaller={f"{HOME}.layers_for_a_guess.LENGTHS": (4,)},
    ),
    Planted(
        "layers-for-a-guess",
        f"{HOME}.layers_for_a_guess.left_over",
        # Degree 3 in the place of 4: as if the second layer saw the first one's tokens.
        lambda share: lambda d, n, layers: share(d, n, layers) * (1 if layers == 1 else (d * n / 2 + 4) / 4),
        smaller={f"{HOME}.layers_for_a_guess.LENGTHS": (4,)},
    ),
    Planted(
        "guess-under-shift",
        f"{HOME}.shifted_mean.closed_difference",
        # The loss at a new mean of zero, counted twice.
        lambda closed: lambda task, mean: closed(task, mean) + closed(task, 0 * mean),
        smaller={f"{HOME}.shifted_mean.SIZES": ((2, 3),), f"{HOME}.shifted_mean.SAMPLES": 49_152},
    ),
    Planted(
        "two-sided-tasks",
        f"{HOME}.two_sided_tasks.two_sided",
        # One side more often than the other: then there is a mean, and a guess helps.
        lambda make: lambda *law: make(*law, weight=0.9),
        smaller={f"{HOME}.two_sided_tasks.SIZES": ((2, 3),)},
    ),
]


@pytest.mark.parametrize("planted", cases(PLANTED, "gap-by-norm", "layers-for-a-guess"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    see(monkeypatch, planted, tmp_path)
