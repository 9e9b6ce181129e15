"""Each claim of the linear-transformer paper is judged as it should be, and otherwise when its experiment is broken."""

import os
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import pytest

from descant.claims import Evidence, Lab, find
from descant.claims.linear_transformer._networks import Networks
from tests.support.claims_lab import Planted, plant

HOME = "descant.claims.linear_transformer"


def forgotten(networks):
    """DIAG's and FULL's weights that see the labels' size are lost: what is left is GD++."""

    def broken(lab, law, kind="diag"):
        found, plain = networks(lab, law, kind), networks(lab, law)
        measured = found.measured
        places = {name: index for index, name in enumerate(plain.measured.names)}

        def swapped(own, others):
            rows = []
            for name, row in zip(measured.names, own, strict=True):
                kept = name.startswith(("gd++", "const", "ada", "tuned", "bayes"))
                rows.append(row if kept else others[places[f"gd++ {name.split()[-1]}"]])
            return rows

        fields = ("value", "error", "ordinary", "ordinary_error", "exploding")
        changes = {field: swapped(getattr(measured, field), getattr(plain.measured, field)) for field in fields}
        for field in ("profiles", "profile_errors"):
            pairs = zip(getattr(measured, field), getattr(plain.measured, field), strict=True)
            changes[field] = [swapped(*pair) for pair in pairs]
        return Networks(found.models, replace(measured, **changes))

    return broken


def scrambled(networks):
    """Weights in a random order, as from an untrained network."""

    def broken(lab, law, kind="diag"):
        found = networks(lab, law, kind)
        changed = {name: eqx.tree_at(lambda m: m.q, m, m.q[..., ::-1]) for name, m in found.models.items()}
        return Networks(changed, found.measured)

    return broken


def tied(networks):
    """Free omegas are taken from the networks with one head."""

    def broken(lab, law, kind="diag"):
        if kind != "free":
            return networks(lab, law, kind)
        one, free = networks(lab, law), networks(lab, law, "free")
        names = [name.replace("diag", "free") for name in one.measured.names]
        models = {name: one.models[name.replace("free", "diag")] for name in free.models}
        return Networks(models, replace(one.measured, names=names))

    return broken


# These look at networks that take ten minutes to train: DESCANT_REPORT names a report whose networks are taken.
TRAINED = [
    Planted("table-1", f"{HOME}.table.networks", forgotten),
    Planted("loss-against-depth", f"{HOME}.depth.networks", forgotten),
    # The levels that were trained, taken for those that were not.
    Planted("categorical-noise", f"{HOME}.categorical.OUTSIDE", lambda _: (1.0, 3.0)),
    Planted("weights-nearly-diagonal", f"{HOME}.heat_maps.networks", scrambled),
    Planted("loss-after-each-layer", f"{HOME}.after_layers.networks", forgotten),
    Planted(
        "profiles-after-each-layer", f"{HOME}.after_layers._argmin", lambda argmin: lambda values: argmin(values[::-1])
    ),
    Planted("bayes-beside", f"{HOME}.bayes_beside.networks", forgotten),
    Planted("single-head", f"{HOME}.single_head.networks", tied),
]


@pytest.fixture
def trained():
    report = os.environ.get("DESCANT_REPORT")
    if not report:
        pytest.skip("needs networks that take ten minutes to train: DESCANT_REPORT=report, after `make reproduce`")
    return Path(report).resolve() / "runs"


def judged(id: str, trained, folder) -> Evidence:
    return find([id])[id].experiment(Lab(folder, trained))


@pytest.mark.parametrize("planted", TRAINED, ids=lambda planted: planted.claim)
def test_the_claim_on_trained_networks_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path, trained):
    assert judged(planted.claim, trained, tmp_path / "untouched").verdict == planted.verdict
    plant(monkeypatch, planted)
    assert judged(planted.claim, trained, tmp_path / "broken").verdict != planted.verdict
