"""The rules of judging: whose a statement is, what would refute it, and where the words were seen."""

import pytest

from descant.claims import CONTROL, Evidence, Lab, _claim as claims_module, all_claims, claim, shown

OURS = [each for each in all_claims().values() if each.experiment.__module__.startswith("descant.")]


@pytest.mark.parametrize("each", OURS, ids=lambda each: each.id)
def test_a_claim_says_whose_it_is_and_where_its_words_were_seen(each):
    assert bool(each.seen) == (each.whose == "paper")
    assert all(words.endswith((".", "$")) for words in each.refuted_by.values())


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
