"""The rules of judging: whose a statement is, what would refute it, and where the words were seen."""

import inspect
import re

import pytest

from descant.claims import CONTROL, Evidence, Lab, _claim as claims_module, all_claims, claim, shown
from descant.claims.linear_transformer._networks import networks

OURS = [each for each in all_claims().values() if each.experiment.__module__.startswith("descant.")]


@pytest.mark.parametrize("each", OURS, ids=lambda each: each.id)
def test_a_claim_says_whose_it_is_and_where_its_words_were_seen(each):
    assert bool(each.seen) == (each.whose == "paper")
    assert all(words.endswith((".", "$")) for words in each.refuted_by.values())
    # What a paper says stays the paper's when it fails.
    assert each.whose == "paper" or not re.search(r"[Tt]he paper (says|sees|shows it|adds)\b", each.statement)


# Claims of papers on networks that they trained, in the claims that look at ours.
SEEN_IN_NETWORKS = {
    *("table-1", "loss-against-depth", "match-tuned", "diag-like-full-uniform", "categorical-noise", "three-levels"),
    *("weights-nearly-diagonal", "weights-low-rank", "noise-profiles", "gd-plus-plus-profile"),
    *("loss-after-each-layer", "profiles-after-each-layer", "diag-and-full-after-each-layer"),
    *("ltb-beats-lsa", "softmax-blocks"),
}


def test_what_papers_saw_in_networks_is_marked_so_whether_ours_show_it_or_not():
    assert {each.id for each in OURS if each.observed} == SEEN_IN_NETWORKS
    ours = {each.id: vars(inspect.getmodule(each.experiment)).get("networks") for each in OURS if each.whose == "paper"}
    looks = {id for id, found in ours.items() if found is networks}
    assert len(looks) > 10 and looks <= SEEN_IN_NETWORKS, looks - SEEN_IN_NETWORKS


def make(monkeypatch, checks, **changed):
    monkeypatch.setattr(claims_module, "_FOUND", {})
    words = dict.fromkeys(("where", "title", "statement", "method", "quick", "full"), "Words.")
    settings = {"paper": "elsa", "refuted_by": {"one": "This.", "two": "That."}, "seconds": 1, **words, **changed}
    claim("made", **settings)(lambda lab: Evidence(tuple(checks)))
    return claims_module._FOUND["made"]


def check(against):
    return shown(f"against {against}", True, reason="For the test.", against=against)


@pytest.mark.parametrize(
    ("against", "refuted_by", "fault"),
    [
        (("one", "two"), None, None),
        (("one", "two", CONTROL), None, None),
        (("one",), None, r"no check could trigger: \['two'\]"),
        (("one", "two", "three"), None, r"no refutation of it: \['three'\]"),
        (("one", "two", ""), None, r"no refutation of it: \[''\]"),
        (("",), "A sentence.", None),
        (("", CONTROL), {"named": "A sentence."}, None),
        ((CONTROL,), "A sentence.", "no check could trigger"),
    ],
)
def test_every_refutation_has_a_check_and_every_check_a_refutation(monkeypatch, tmp_path, against, refuted_by, fault):
    changed = {"refuted_by": refuted_by} if refuted_by else {}
    made, lab = make(monkeypatch, map(check, against), **changed), Lab(tmp_path, tmp_path)
    if fault is None:
        assert made.evidence(lab).verdict == "holds"
    else:
        with pytest.raises(ValueError, match=fault):
            made.evidence(lab)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"whose": "nobody"}, "whose of claim 'made' is 'nobody'"),
        ({"whose": "paper", "paper": "descant"}, "whose of claim 'made' is 'paper'"),
        ({"seen": "in a dream"}, "seen of claim 'made' is 'in a dream'"),
        ({"whose": "derived", "seen": "full text"}, "only for a paper's"),
        ({"whose": "derived", "observed": True}, "expected that only of a paper's"),
        ({"refuted_by": {}}, "expected sentences by names"),
        ({"refuted_by": {CONTROL: "No."}}, "expected sentences by names"),
    ],
)
def test_what_can_not_be_said_of_a_claim(monkeypatch, changed, fault):
    with pytest.raises(ValueError, match=fault):
        make(monkeypatch, (), **changed)


def test_statements_without_a_paper_are_ours(monkeypatch):
    assert make(monkeypatch, (), paper="descant").whose == "extension"
    assert make(monkeypatch, ()).whose == "paper"
    assert make(monkeypatch, (), seen="transcription").doubtful and not make(monkeypatch, (), seen="full text").doubtful


@pytest.mark.parametrize(
    ("changed", "standing"),
    [
        ({}, "does-not-hold"),
        ({"observed": True}, "not-in-ours"),
        ({"observed": True, "seen": "transcription"}, "not-in-ours"),
    ],
)
def test_what_fails_in_our_networks_is_not_called_false_of_the_papers(monkeypatch, changed, standing):
    made = make(monkeypatch, (), **changed)
    assert made.standing("does-not-hold") == standing
    assert [made.standing(verdict) for verdict in ("holds", "undecided")] == ["holds", "undecided"]
