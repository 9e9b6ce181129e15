"""Each claim of the ELSA paper stands as it is, and falls when its experiment is broken."""

from dataclasses import replace

import pytest

from descant.claims.elsa._training import Settings
from tests.support.claims_lab import Planted, cases, plant, run, shrink

HOME = "descant.claims.elsa"
SHORT = Settings(steps=300, batch=64, rates=(0.03,), seeds=2, every=50)


def _without_training(train):
    """Networks that were never trained: a step size of next to nothing."""
    return lambda problem, kind, settings, key, zero: train(
        problem, kind, replace(settings, rates=(1e-9,) * len(settings.rates)), key, zero
    )


def _last_row_kept(broken):
    """Nothing broken but the last argument of a primitive: the block lands one column to the left."""
    return lambda *args: broken(*args[:-1], args[-1] - 1)


PLANTED = [
    Planted("elsa-property-1", f"{HOME}.property_1.mask_and_move", lambda move: lambda s, p, a, b: move(s, p, 0, b)),
    Planted("elsa-property-2", f"{HOME}.properties_2_3.constant", lambda constant: lambda c: constant(-c)),
    Planted("elsa-property-3", f"{HOME}.properties_2_3.times", lambda times: lambda q, m: times(q.T, m)),
    Planted("elsa-property-4", f"{HOME}.products.product_ab", _last_row_kept),
    Planted("elsa-three-matrices", f"{HOME}.products.product_abtc", _last_row_kept),
    Planted(
        "elsa-ridge-lsa",
        f"{HOME}.ridge.ridge_as_lsa",
        lambda ridge: lambda *a, lam, **k: ridge(*a, lam=1.01 * lam, **k),
        smaller={f"{HOME}.ridge.SIZES": ((3, 2), (5, 3)), f"{HOME}.ridge.DRAWS": 1, f"{HOME}.ridge.STEPS": 12},
    ),
    Planted(
        "elsa-ridge-elsa",
        f"{HOME}.ridge.ridge_as_elsa",
        lambda ridge: lambda *a, eta, **k: ridge(*a, eta=1.01 * eta, **k),
        smaller={f"{HOME}.ridge.SIZES": ((3, 2), (5, 3)), f"{HOME}.ridge.DRAWS": 1, f"{HOME}.ridge.STEPS": 12},
    ),
    Planted(
        "elsa-single-step",
        f"{HOME}.single_step.ridge_as_elsa",
        # A penalty that is left out.
        lambda ridge: lambda *a, lam, **k: ridge(*a, lam=0.0, **k),
        smaller={f"{HOME}.single_step.DRAWS": 2},
    ),
    Planted(
        "elsa-convergence",
        f"{HOME}.convergence.convergence",
        # A network for another condition number than the theory is told.
        lambda study: lambda condition: replace(study(condition), theory=study(2 * condition).theory),
        smaller={f"{HOME}.convergence.CONDITIONS": (5, 10, 20)},
    ),
    Planted(
        "elsa-input-format",
        f"{HOME}.input_format.input_format",
        # A network that takes no notice of where its variables are.
        lambda study: lambda: [replace(each, fixed=None if each.fixed is None else 0.0) for each in study()],
    ),
    Planted(
        "elsa-trained-ab",
        f"{HOME}._found.train",
        _without_training,
        smaller={f"{HOME}.trained_products.SETTINGS": SHORT, f"{HOME}._training.TESTED": 512},
    ),
    Planted(
        "elsa-trained-atb",
        f"{HOME}._found.train",
        _without_training,
        smaller={f"{HOME}.trained_products.SETTINGS": SHORT, f"{HOME}._training.TESTED": 512},
    ),
    # elsa-trained-step and elsa-trained-ridge take a minute each: they were tried by hand, with the same error.
]


@pytest.mark.parametrize("planted", cases(PLANTED, "elsa-property-1", "elsa-property-4", "elsa-convergence"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    shrink(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert run(planted.claim, tmp_path / "broken").verdict != planted.verdict
