"""Each claim of the initial-guess paper stands as it is, and falls when its experiment is broken."""

import equinox as eqx
import pytest

from .claims_lab import Planted, plant, run, shrink

HOME = "descant.claims.initial_guess"
PLANTED = [
    Planted(
        "zero-mean-heads",
        f"{HOME}.zero_mean.best_heads",
        # Another number of heads would make no difference here, a prior mean does.
        lambda best: lambda problem, heads: best(eqx.tree_at(lambda p: p.mean, problem, 0.1 + problem.mean), heads),
        smaller={f"{HOME}.zero_mean.D": 3, f"{HOME}.zero_mean.N": 4},
    ),
]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.claim)
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    shrink(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "broken").verdict != planted.verdict
