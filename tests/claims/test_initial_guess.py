"""Each claim of the initial-guess paper stands as it is, and falls when its experiment is broken."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression
from descant.attention import LSA
from descant.claims import long_run
from descant.claims.initial_guess import small_model
from descant.claims.initial_guess._setting import crooked, crooked_task, stretched
from descant.llm import verdicts
from descant.tasks import PoolPrior, SphereInputs
from descant.theory import GramMoments, best_heads, gd_beta_minimum
from tests.support.claims_lab import Planted, cases, see

HOME = "descant.claims.initial_guess"


def _small(module: str) -> dict:
    """d = n = 3."""
    return {f"{HOME}.{module}.D": 3, f"{HOME}.{module}.N": 3}


PLANTED = [
    Planted(
        "zero-mean-heads",
        f"{HOME}.zero_mean.best_heads",
        # Another number of heads would make no difference here, a prior mean does.
        lambda best: lambda problem, heads: best(eqx.tree_at(lambda p: p.mean, problem, 0.1 + problem.mean), heads),
        smaller={f"{HOME}.zero_mean.D": 3, f"{HOME}.zero_mean.N": 4},
    ),
    Planted(
        "head-bound",
        f"{HOME}.head_bound.folded",
        # A head that gets lost.
        lambda folded: lambda many: folded(LSA(many.v[1:], many.u[1:], many.guess, many.query_masked)),
        smaller={f"{HOME}.head_bound.HEADS": (4, 5), f"{HOME}.head_bound.SEEDS": 3},
    ),
    Planted(
        "head-saturation",
        f"{HOME}.saturation.best_heads",
        # One head fewer than was asked for.
        lambda best: lambda problem, heads: best(problem, max(1, heads - 1)),
        smaller={**_small("saturation"), f"{HOME}.saturation.AROUND": (0.95, 1.05)},
    ),
    Planted(
        "head-gap-formula",
        f"{HOME}.gap.closed_gap",
        # The 1 of the formula forgotten.
        lambda closed: lambda posed: 1 / (1 / closed(posed) - 1 / float(posed.size(posed.mean))),
        smaller={**_small("gap"), f"{HOME}.gap.MEANS": (1.0,), f"{HOME}.gap.BATCHES": 10},
    ),
    Planted(
        "head-gap",
        f"{HOME}.gap.best_heads",
        # A guess smuggled in: then the gap is gone.
        lambda best: lambda posed, heads: best(posed, heads, free_offset=True),
        smaller={**_small("gap"), f"{HOME}.gap.MEANS": (1.0,), f"{HOME}.gap.BATCHES": 10},
    ),
    Planted(
        "yq-lsa",
        f"{HOME}.yq_lsa.best_heads",
        # A guess that is not trained.
        lambda best: lambda problem, heads, free_offset=False: best(problem, heads),
        smaller={**_small("yq_lsa"), f"{HOME}.yq_lsa.MEANS": (0.0, 1.0)},
    ),
    Planted(
        "constant-guess",
        f"{HOME}.constant_guess.best_with_constant",
        # The sign of what meets the constant.
        lambda build: (
            lambda c: eqx.tree_at(lambda layer: layer.u, build(c), build(c).u * jnp.ones(4).at[3].set(-1.0)[None, None])
        ),
        smaller=_small("constant_guess"),
    ),
    Planted(
        "shift-lemma",
        f"{HOME}.shift_lemma.shifted",
        lambda shifted: lambda layer, start: shifted(layer, -start),
        smaller={
            f"{HOME}.shift_lemma.HEADS": (1, 4),
            f"{HOME}.shift_lemma.PATH": (0.0, 1.0),
            f"{HOME}.shift_lemma.SEEDS": 3,
        },
    ),
    Planted(
        "attending-query",
        f"{HOME}.attending_query.best_heads",
        # The convention ignored.
        lambda best: lambda problem, heads, query_masked=True: best(problem, heads),
        smaller={
            f"{HOME}.attending_query.D": 5,
            f"{HOME}.attending_query.N": 5,
            f"{HOME}.attending_query.MEANS": (0.0, 0.5, 1.0),
            f"{HOME}.attending_query.TURN": 0.5,
        },
    ),
    Planted(
        "guess-trained",
        f"{HOME}.trained.train_kinds",
        # Layers that were never trained.
        lambda descend: lambda kinds, posed, **settings: descend(kinds, posed, **(settings | {"rate": 1e-9})),
        smaller={
            **_small("trained"),
            f"{HOME}.trained.KINDS": {"LSA, 1 head": (1, False), "y_q-LSA": (1, True)},
            f"{HOME}.trained.STEPS": 3000,
            f"{HOME}.trained.RATE": 0.01,
            f"{HOME}.trained.LOOKS": 3,
        },
    ),
    Planted(
        "guess-helps",
        f"{HOME}.small_model.results_of",
        # The answers without a guess, in the place of those with it.
        lambda read: lambda run: _answered(read(run), "embedding", lambda results: results.answer["none"]),
    ),
    Planted(
        "beyond-the-guess",
        f"{HOME}.small_model.results_of",
        # Half of what the guess lacks, as if the model knew it.
        lambda read: (
            lambda run: _answered(
                read(run), "embedding", lambda results: (results.shown["embedding"] + results.gold) / 2
            )
        ),
        verdict="does-not-hold",
        becomes="holds",
    ),
    Planted(
        "bad-guess-hurts",
        f"{HOME}.small_model.results_of",
        lambda read: lambda run: _answered(read(run), "random", lambda results: results.answer["none"]),
    ),
]


@pytest.mark.parametrize("planted", cases(PLANTED, "zero-mean-heads", "shift-lemma", "guess-helps"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    see(monkeypatch, planted, tmp_path)


def test_a_scalar_step_is_not_what_a_head_does():
    """The numbers of the referee."""
    assert round(best_heads(stretched(), 1).risk, 3) == 2.535
    one = [best_heads(stretched(unit), 1).risk for unit in jnp.eye(4)]
    np.testing.assert_allclose([min(one), max(one)], [2.904, 3.107], atol=5e-4)


def test_the_law_of_prompts_and_the_problem_are_one():
    mean = jnp.array([1.0, -2.0, 0.5])
    moments = GramMoments.of(crooked_task(mean))
    np.testing.assert_allclose(best_heads(moments, 4).risk, best_heads(crooked(mean), 4).risk, rtol=1e-10)


def test_without_gaussian_laws_the_statements_fail():
    """Inputs of constant norm have no gap; tasks that are not symmetric take more than one head beside a guess."""
    sphere = LinearRegression(3, 4, GaussianPrior.isotropic(3, mean=1.0), inputs=SphereInputs(), noise=FixedNoise(0.0))
    moments = GramMoments.of(sphere)
    assert best_heads(moments, 4).risk == pytest.approx(best_heads(moments, 4, free_offset=True).risk, rel=1e-9)
    pool = PoolPrior([[-0.2, 0.9, 1.2], [2.0, 0.2, 1.7], [1.1, 0.2, 0.9]])
    moments = GramMoments.of(LinearRegression(3, 4, pool, noise=FixedNoise(0.0)))
    one, many = (best_heads(moments, heads, free_offset=True).risk for heads in (1, 4))
    assert many < 0.99 * one


def test_many_heads_see_the_length_of_the_shift_in_the_norm_of_the_inputs():
    posed = crooked()
    lengths = [unit / float(posed.size(unit)) ** 0.5 for unit in jnp.eye(3)]
    risks = [best_heads(crooked(vector), 4).risk for vector in lengths]
    np.testing.assert_allclose(risks, risks[0], rtol=1e-10)
    assert risks[0] > float(gd_beta_minimum(posed))


def _answered(results, guess, answers):
    return replace(results, answer={**results.answer, guess: answers(results)})


def test_answers_that_ship_are_whole_and_hold_no_sentence():
    run = long_run(small_model.RUN)
    assert run is not None
    results = small_model.results_of(run)
    assert results.unanswered == 0 and set(results.guesses) >= {"none", "random", "shuffled", "embedding"}
    assert all(len(str(cell)) < 16 for row in run.numbers["rows"] for cell in row)
    again = small_model.shipped(
        (dict(zip(run.numbers["columns"], row, strict=True)) for row in run.numbers["rows"]), results.asked
    )
    assert again == run.numbers
    assert [each.claim for each in verdicts(results)] == ["a", "b", "c"]
