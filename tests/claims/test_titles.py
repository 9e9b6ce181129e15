"""Titles that are read from the source are those of the claims."""

import subprocess
import sys

from descant.claims import all_claims, titles


def test_titles_are_those_of_the_claims():
    found = titles()
    # Other tests of this process may have brought claims of their own along.
    ours = {id: claim for id, claim in all_claims().items() if claim.experiment.__module__.startswith("descant.")}
    expected = {id: (id, claim.paper, claim.title) for id, claim in ours.items()}
    assert list(found) == list(expected) and {id: tuple(title) for id, title in found.items()} == expected
    assert set(titles(["elsa", "gd-beta-optimum"])) == {id for id in found if found[id].paper == "elsa"} | {
        "gd-beta-optimum"
    }


def test_with_claims_of_ones_own_all_are_imported(monkeypatch):
    monkeypatch.setenv("DESCANT_CLAIMS", "tests.support.fake_claims")
    assert set(titles()) == set(all_claims())


def test_claims_stand_in_the_order_of_their_source_whatever_was_imported_first():
    code = (
        "import descant.claims.ours.task_diversity, descant.claims.ltb.softmax_blocks;"
        "from descant.claims import all_claims, titles; assert list(all_claims()) == list(titles())"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
