"""Each claim of the LTB paper stands as it is, and falls when its experiment is broken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.attention import LSA
from descant.claims.ltb._blocks import Setting
from descant.claims.ltb._problems import isotropic
from tests.support.claims_lab import Planted, cases, plant, run, shrink

HOME = "descant.claims.ltb"
PLANTED = [
    Planted(
        "gd-beta-optimum",
        f"{HOME}.gd_beta.theorem_risk",
        # A preconditioner that is transposed by mistake: no difference for symmetric ones.
        lambda risk: lambda problem, beta, gamma: risk(problem, beta, gamma.T),
        smaller={f"{HOME}.gd_beta.SIMULATED": (5,)},
    ),
    Planted(
        "ltb-equals-gd-beta",
        f"{HOME}.ltb_equals_gd_beta.optimal_gamma",
        # The tasks' second moment about zero in place of that about their mean.
        lambda gamma: lambda problem, start: gamma(problem, 0 * start),
        smaller={
            f"{HOME}.ltb_equals_gd_beta.STARTS": 1,
            f"{HOME}.ltb_equals_gd_beta._tasks": lambda lab: {"d = 2": isotropic(2, 6, 3.0, 1.0)},
        },
    ),
    Planted(
        "lsa-gap",
        f"{HOME}.lsa_gap.best_heads",
        # As many heads as help, where the bound is about one.
        lambda best: lambda problem, heads: best(problem, heads + problem.d),
        smaller={
            f"{HOME}.lsa_gap.MEANS": (1.0, 10.0, 30.0),
            f"{HOME}.lsa_gap._grid": lambda lab: {"d = n = 3": isotropic(3, 3, 1.0)},
        },
    ),
    Planted(
        "lsa-gap-printed",
        f"{HOME}.lsa_gap.lsa_gap_bounds",
        # The second branch overlooked.
        lambda bounds: lambda problem: bounds(problem)._replace(printed=bounds(problem).simple),
        verdict="does-not-hold",
        smaller={f"{HOME}.lsa_gap.DIMENSIONS": (50,)},
    ),
    Planted(
        "nearly-bayes",
        f"{HOME}.near_bayes.gd_beta_minimum",
        # The prior mean alone, without the step.
        lambda _: lambda problem: problem.signal,
        smaller={f"{HOME}.near_bayes.LENGTHS": (64,), f"{HOME}.near_bayes.SAMPLES": 1024},
    ),
    Planted(
        "bayes-outside",
        f"{HOME}.near_bayes.power_law",
        # Noise to signal in place of signal to noise.
        lambda law: lambda n, snr: law(n, 1 / snr),
        smaller={f"{HOME}.near_bayes.LENGTHS": (4, 64), f"{HOME}.near_bayes.SAMPLES": 1024},
    ),
    Planted(
        "flow-start",
        f"{HOME}.flow.gradient_flow",
        # A clock that is four times too fast, as if the flow were that of an eighth of the risk.
        lambda flow: lambda problem, beta, gamma, times: flow(problem, beta, gamma, times / 4)._replace(times=times),
        smaller={f"{HOME}.flow._tasks": lambda lab: {"d = n = 3": isotropic(3, 3, 1.0)}},
    ),
    Planted(
        "flow-preconditioner",
        f"{HOME}.flow.gradient_flow",
        # A clock that is ten times too fast.
        lambda flow: lambda problem, beta, gamma, times: flow(problem, beta, gamma, times / 10)._replace(times=times),
        smaller={f"{HOME}.flow._tasks": lambda lab: {"d = n = 3": isotropic(3, 3, 4.0)}},
    ),
]
TRAINED = [
    Planted(
        "ltb-training",
        f"{HOME}.training.random_weights",
        # Weights that are all zero: a saddle, which no gradient leads away from.
        lambda weights: lambda kind, d, key: jax.tree.map(jnp.zeros_like, weights(kind, d, key)),
        smaller={
            f"{HOME}.training.D": 2,
            f"{HOME}.training.N": 3,
            f"{HOME}.training.SEEDS": 2,
        },
    ),
    Planted(
        "ltb-beats-lsa",
        f"{HOME}.training.LTB",
        # The same model under two names.
        lambda _: LSA,
        smaller={f"{HOME}.training.D": 2, f"{HOME}.training.N": 2, f"{HOME}.training.STEPS": 1500},
    ),
    Planted(
        "mean-learnability",
        f"{HOME}.learnability.velocity",
        # Contexts of twice the length.
        lambda velocity: lambda d, n, size, state: velocity(d, 2 * n, size, state),
        smaller={f"{HOME}.learnability.DIMENSIONS": (2, 4), f"{HOME}.learnability.LENGTHS": (4,)},
    ),
    Planted(
        "nonlinear-targets",
        f"{HOME}.nonlinear.kernel",
        # A baseline that is as linear as the models.
        lambda _: lambda name, left, right: left @ np.swapaxes(right, -1, -2),
        smaller={f"{HOME}.nonlinear.STEPS": 100},
    ),
    Planted(
        "softmax-blocks",
        f"{HOME}.softmax_blocks._still_falling",
        # A training that was hardly begun, taken for a finished one.
        lambda _: lambda found, member: 0.0,
        verdict="undecided",
        smaller={f"{HOME}._blocks.SMALL": Setting("tiny", 2, 4, 8, 1, 2, 100, 32, 3e-3, "cosine", 4096, chunk=10)},
    ),
    # The claim on digits needs its whole size to be more than noise: it was tried by hand,
    # with one model under two names.
]


@pytest.mark.parametrize("planted", cases(PLANTED, "gd-beta-optimum", "nearly-bayes"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    shrink(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "broken").verdict != planted.verdict


@pytest.mark.parametrize("planted", cases(TRAINED))
@pytest.mark.usefixtures("relaxed")
def test_the_claim_on_trained_models_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path)
