"""Every claim has an error planted, and each of those names the verdict that it must cause."""

import importlib
import pkgutil
from types import ModuleType

import tests.claims
from descant.claims import all_claims
from tests.support import ROOT
from tests.support.claims_lab import Planted

# CI runs the slow ones; anything else would leave a case out, or let it fail.
MARKS = {"slow", "optimised", "parametrize", "usefixtures"}

WORDS = {2: "Two", 6: "Six", 60: "Sixty"}


def modules() -> list[ModuleType]:
    """The tests of this folder."""
    return [
        importlib.import_module(f"tests.claims.{info.name}") for info in pkgutil.iter_modules(tests.claims.__path__)
    ]


def planted() -> list[Planted]:
    """All of them, from the lists in the tests of this folder."""
    lists = [value for module in modules() for value in vars(module).values() if isinstance(value, list)]
    return [each for found in lists for each in found if isinstance(each, Planted)]


def tried() -> list[tuple[Planted, set[str]]]:
    """Those that are cases of a test, with its marks and their own."""
    found = []
    for module in modules():
        for test in vars(module).values():
            marks = getattr(test, "pytestmark", None) if callable(test) else None
            for mark in marks or ():
                if mark.name != "parametrize":
                    continue
                for case in mark.args[1]:
                    values, own = (case.values, case.marks) if hasattr(case, "marks") else ((case,), ())
                    names = {each.name for each in (*own, *(marks or ()))}
                    found += [(each, names) for each in values if isinstance(each, Planted)]
    return found


def test_every_claim_has_an_error_planted():
    ours = {id for id, claim in all_claims().items() if claim.experiment.__module__.startswith("descant.")}
    found = planted()
    assert ours <= {each.claim for each in found}, ours - {each.claim for each in found}
    assert all(each.verdict != each.becomes for each in found)


def test_every_planted_error_is_a_case_of_a_test_that_is_not_left_out():
    cases = tried()
    assert sorted(map(id, planted())) == sorted(id(each) for each, _ in cases)
    assert not {each.claim: names - MARKS for each, names in cases if names - MARKS}


def test_the_readme_counts_what_is_judged_and_what_comes_of_it():
    verdicts = {each.claim: each.verdict for each in planted()}
    claims = {id: claim for id, claim in all_claims().items() if claim.experiment.__module__.startswith("descant.")}
    theirs = {id: claim.standing(verdicts[id]) for id, claim in claims.items() if claim.whose == "paper"}
    counts = {standing: list(theirs.values()).count(standing) for standing in theirs.values()}
    identities = sum(claims[id].identity for id, standing in theirs.items() if standing == "holds")
    words = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for said in (
        f"Of {len(theirs)} statements of the papers {counts['holds']} hold",
        f"{identities} of them identities",
        f"{WORDS[counts['not-in-ours']]} are what a paper saw in networks",
        f"{WORDS[counts['not-as-read']]} fail as we read them",
        f"{WORDS[len(claims) - len(theirs)]} statements are our own",
    ):
        assert said in words, said
    assert set(counts) == {"holds", "not-in-ours", "not-as-read"}
    changes = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f"judges {len(theirs)} statements of the four papers, and {len(claims) - len(theirs)} of our own" in changes
