"""Each claim of the initial-guess paper stands as it is, and falls when its experiment is broken."""

import equinox as eqx
import jax.numpy as jnp
import pytest

from descant.attention import LSA
from tests.support.claims_lab import Planted, cases, plant, run, shrink

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
        "head-gap",
        f"{HOME}.gap.closed_gap",
        # The 1 of the formula forgotten.
        lambda closed: lambda d, n, size, noise=0.0: size / (size / closed(d, n, size, noise) - 1),
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
]


@pytest.mark.parametrize("planted", cases(PLANTED, "zero-mean-heads", "shift-lemma"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    shrink(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "broken").verdict != planted.verdict
