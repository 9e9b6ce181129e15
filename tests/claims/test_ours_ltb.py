"""Claims of our own on the block: their formulas by themselves, then each claim, whole and broken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression
from descant.claims.ltb._problems import crooked, isotropic
from descant.claims.ours import few_tasks, other_length
from descant.tasks import FixedNoise, PoolPrior
from descant.theory import GramMoments, Problem, best_heads, gd_beta_risk, gram_risk, merge_heads, optimal_gamma
from tests.support.claims_lab import Planted, cases, see

HOME = "descant.claims.ours"


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("n", [1, 3, 50])
def test_weights_of_one_length_have_the_stated_risk_at_another(rank, n):
    problem = Problem.of(crooked(3, 6, 0.4, key=jax.random.key(0), rank=rank))
    mean, gamma = np.asarray(problem.mean), np.asarray(optimal_gamma(problem, problem.mean))
    moved = gd_beta_risk(other_length.at_length(problem, n), mean, gamma)
    np.testing.assert_allclose(other_length.moved_risk(problem, n), moved, rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_no_block_breaks_at_half_its_length(sigma, n):
    """Whatever the noise and the length; at the stated length it is as good as the prior mean."""
    problem = Problem.of(crooked(4, n, sigma, key=jax.random.key(n)))
    length = other_length.break_length(problem)
    assert length < n / 2
    phi, g = other_length.spectrum(problem), other_length.steps(problem)
    np.testing.assert_allclose(np.sum(phi * (1 - g) * (1 - g + g * n / length)), problem.signal, rtol=1e-12)


def test_a_head_for_one_length_beats_zero_from_half_of_it_on():
    """An even length, so that half of it can be tried itself."""
    problem = Problem.of(isotropic(2, 6, 2.0, 0.3))
    head = best_heads(problem, 1)
    zero = float(problem.signal + problem.size(problem.mean))
    for n in (3, 4, 100):
        moved = gram_risk(other_length.at_length(problem, n), np.zeros(2), head.tensor)
        assert float(moved) < zero


def test_the_risk_on_a_pool_and_its_slopes():
    """Against the library's form, and finite differences."""
    random = np.random.default_rng(0)
    tasks = 1 + random.standard_normal((5, 2))
    moments = GramMoments.of(LinearRegression(2, 4, PoolPrior(tasks), noise=FixedNoise(0.7)))
    layer = few_tasks.Layer(*(random.standard_normal(shape) for shape in ((3,), (3, 2), (2,))))
    tensor = merge_heads(jnp.asarray(layer.v)[None], jnp.asarray(layer.u)[None])
    risk, slope = few_tasks.pool_risk(moments, layer)
    np.testing.assert_allclose(risk, moments.risk(jnp.asarray(layer.skip), tensor), rtol=1e-12)
    way = few_tasks.Layer(*(random.standard_normal(each.shape) for each in layer))
    ends = [
        few_tasks.pool_risk(moments, few_tasks.Layer(*(a + h * b for a, b in zip(layer, way, strict=True))))[0]
        for h in (1e-6, -1e-6)
    ]
    along = sum(float(np.sum(a * b)) for a, b in zip(slope, way, strict=True))
    np.testing.assert_allclose(along, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("d", [1, 3])
def test_the_constant_is_that_of_many_tasks(d):
    excess = 4096 * few_tasks.step_excess(d, 4096, 1000, np.random.default_rng(d))
    assert abs(excess.mean() - few_tasks.leading(d)) < 4 * excess.std() / 1000**0.5 < 0.2 * few_tasks.leading(d)


PLANTED = [
    Planted(
        "key-width",
        f"{HOME}.key_width.narrow_risk",
        # The smallest eigenvalues kept, in place of the largest.
        lambda risk: lambda problem, width: risk(problem, 2) + risk(problem, 0) - risk(problem, 2 - width),
        smaller={
            f"{HOME}.key_width.D": 2,
            f"{HOME}.key_width._tasks": lambda lab: {
                "d = 2": crooked(2, 4, 0.4, key=lab.key("crooked")),
                "rank 1": crooked(2, 4, 0.4, key=lab.key("flat"), rank=1),
            },
            f"{HOME}.key_width.MOST_STARTS": 6,
        },
    ),
    Planted(
        "other-length",
        f"{HOME}.other_length.steps",
        # n for n + 1: as if the spread of the inputs in the context did not count.
        lambda steps: lambda problem: steps(problem) * (1 + 1 / problem.n),
        smaller={
            f"{HOME}.other_length._tasks": lambda lab: {"d = 2": isotropic(2, 8, 1.0, 0.5)},
            f"{HOME}.other_length.PROMPTS": 8192,
        },
    ),
    Planted(
        "few-tasks",
        f"{HOME}.few_tasks.leading",
        # The part of the preconditioner forgotten.
        lambda leading: lambda d: leading(d) * 0.7,
        smaller={f"{HOME}.few_tasks.SIZES": (8, 256), f"{HOME}.few_tasks.MANY": 800, f"{HOME}.few_tasks.POOLS": 60},
    ),
]


@pytest.mark.parametrize("planted", cases(PLANTED, "other-length"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    see(monkeypatch, planted, tmp_path)
