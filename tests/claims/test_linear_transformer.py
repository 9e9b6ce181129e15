"""The claims on trained networks are judged as they should be, and otherwise when their experiment is broken.

All look at the networks that were shipped, measured on fewer contexts; they share what was measured.
"""

from dataclasses import replace

import equinox as eqx
import pytest

from descant.claims import Lab, find
from descant.claims.linear_transformer._networks import Networks
from tests.support.claims_lab import Planted, cases, plant, shrink

HOME = "descant.claims.linear_transformer"
FEWER = {f"{HOME}._networks.SAMPLES": (8_192, 8_192), f"{HOME}._networks.LEVEL_SAMPLES": (2_048, 2_048)}
TWO = ("uniform:5", "1,3")
FEWER |= {f"{HOME}.{name}": TWO for name in ("table.PRINTED_LAWS", "bayes_beside.LAWS", "like_full.LAWS")}
FEWER |= {f"{HOME}.depth.LARGE": TWO[:1], f"{HOME}.depth.LAWS": ("uniform:2", "uniform:5")}
# Ratios that are a few hundredths from what they are held against take more contexts.
NEAR_THE_BOUND = {f"{HOME}._networks.SAMPLES": (65_536, 65_536)}
ROWS = ("value", "error", "ordinary", "ordinary_error", "exploding", "worst")
NESTED = ("profiles", "profile_errors", "blocks")


def exchanged(names):
    """Networks whose numbers are those of others: `names(name)` says whose, and of which law and kind they are."""

    def planted(networks):
        def broken(lab, law, kind="diag", **others):
            found = networks(lab, law, kind, **others)
            measured, plain = found.measured, networks(lab, law).measured

            def instead(field, name, index):
                source = names(name)
                own = measured if source in measured.names else plain
                rows = getattr(own, field) if index is None else getattr(own, field)[index]
                row = list(rows[own.names.index(source)])
                length = int(name.split()[1]) if " " in name else 1
                return row[-length:] if len(row) >= length else row + row[-1:] * (length - len(row))

            changes = {field: [instead(field, name, None) for name in measured.names] for field in ROWS}
            for field in NESTED:
                count = len(getattr(measured, field))
                changes[field] = [[instead(field, name, index) for name in measured.names] for index in range(count)]
            return replace(found, measured=replace(measured, **changes))

        return broken

    return planted


def _kind_as(*kinds, instead):
    return exchanged(lambda name: f"{instead} {name.split()[1]}" if name.split()[0] in kinds else name)


# The weights that see the labels' size are lost: what is left is GD++.
forgotten = _kind_as("diag", "full", "axial", "free", instead="gd++")


def scrambled(networks):
    """The columns of Q in the opposite order, in the network from random dense weights."""

    def broken(lab, law, kind="diag"):
        found = networks(lab, law, kind)
        if kind != "full":
            return found
        changed = {name: eqx.tree_at(lambda m: m.q, m, m.q[..., ::-1]) for name, m in found.models.items()}
        return Networks(changed, found.measured)

    return broken


def opposite(networks):
    """DIAG as GD++, and FULL with the profiles of GD++'s layers, the last first."""

    def broken(lab, law, kind="diag"):
        found = _kind_as("diag", instead="gd++")(networks)(lab, law, kind)
        if kind != "full":
            return found
        measured, plain = found.measured, networks(lab, law).measured
        row = plain.names.index("gd++ 5")

        def reversed_rows(levels):
            return [
                [[level[row][layer] for layer in (4, 2, 1, 0)][-len(own) :] for own in measured.value]
                for level in levels
            ]

        profiles, errors = reversed_rows(plain.profiles), reversed_rows(plain.profile_errors)
        return replace(found, measured=replace(measured, profiles=profiles, profile_errors=errors))

    return broken


PLANTED = [
    Planted("table-1", f"{HOME}.table.networks", forgotten, smaller={f"{HOME}.table._trained_afresh": lambda lab: []}),
    Planted(
        "table-1-not-least",
        f"{HOME}.table.printed_networks",
        # As if the paper had printed half of it.
        lambda printed: lambda kind, law: [each / 2 for each in printed(kind, law)],
    ),
    Planted("loss-against-depth", f"{HOME}.depth.networks", forgotten),
    # A tolerance that lets everything through.
    Planted("match-tuned", f"{HOME}.depth.MATCHES", lambda _: 3.0, verdict="does-not-hold", becomes="holds"),
    # The levels that were trained, taken for those that were not.
    Planted("categorical-noise", f"{HOME}.categorical.OUTSIDE", lambda _: (1.0, 3.0)),
    Planted(
        "extrapolation-follows-fit",
        f"{HOME}.categorical._outside",
        # Five layers of DIAG are no worse outside than four.
        lambda outside: lambda measured, name: outside(measured, "diag 4" if name == "diag 5" else name),
    ),
    # FULL has the loss of a network that is deeper.
    Planted(
        "three-levels",
        f"{HOME}.categorical.networks",
        exchanged(lambda name: "diag 5" if name == "full 4" else name),
        smaller=NEAR_THE_BOUND,
    ),
    Planted("weights-nearly-diagonal", f"{HOME}.heat_maps.networks", scrambled),
    # Random matrices that hold hardly anything by two singular values.
    Planted(
        "weights-low-rank",
        f"{HOME}.heat_maps._usual",
        lambda usual: lambda columns: usual(columns) / 2,
        verdict="does-not-hold",
        becomes="holds",
    ),
    # The deeper networks are not looked at.
    Planted(
        "loss-after-each-layer",
        f"{HOME}.after_layers.MOST_LAYERS",
        lambda _: 3,
        verdict="does-not-hold",
        becomes="holds",
    ),
    Planted("last-answer-best", f"{HOME}.after_layers.networks", forgotten),
    Planted(
        "profiles-after-each-layer", f"{HOME}.after_layers._argmin", lambda argmin: lambda values: argmin(values[::-1])
    ),
    Planted(
        "diag-and-full-after-each-layer",
        f"{HOME}.after_layers.networks",
        opposite,
        verdict="does-not-hold",
        becomes="holds",
    ),
    Planted("bayes-beside", f"{HOME}.bayes_beside.networks", forgotten),
    Planted("single-head", f"{HOME}.single_head.networks", forgotten),
    # FULL networks that are no other than DIAG.
    Planted(
        "diag-like-full-uniform",
        f"{HOME}.like_full.networks",
        _kind_as("full", "axial", instead="diag"),
        verdict="does-not-hold",
        becomes="holds",
        smaller=NEAR_THE_BOUND,
    ),
    Planted(
        "diag-like-full",
        f"{HOME}.like_full.networks",
        _kind_as("full", "axial", instead="diag"),
        verdict="does-not-hold",
        becomes="holds",
    ),
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Where the networks' measurements are kept: planted errors are in the claims, not in them."""
    return tmp_path_factory.mktemp("measured")


@pytest.mark.parametrize("planted", cases(PLANTED, "single-head"))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path, measured):
    shrink(monkeypatch, replace(planted, smaller=FEWER | planted.smaller))
    claim = find([planted.claim])[planted.claim]
    assert claim.evidence(Lab(tmp_path / "untouched", measured)).verdict == planted.verdict
    plant(monkeypatch, planted)
    assert claim.evidence(Lab(tmp_path / "broken", measured)).verdict == planted.becomes
