"""Every claim has an error planted, and each of those names the verdict that it must cause."""

import importlib
import pkgutil

import tests.claims
from descant.claims import all_claims
from tests.support.claims_lab import Planted


def planted() -> list[Planted]:
    """All of them, from the lists in the tests of this folder."""
    modules = [
        importlib.import_module(f"tests.claims.{info.name}") for info in pkgutil.iter_modules(tests.claims.__path__)
    ]
    lists = [value for module in modules for value in vars(module).values() if isinstance(value, list)]
    return [each for found in lists for each in found if isinstance(each, Planted)]


def test_every_claim_has_an_error_planted():
    ours = {id for id, claim in all_claims().items() if claim.experiment.__module__.startswith("descant.")}
    found = planted()
    assert ours <= {each.claim for each in found}, ours - {each.claim for each in found}
    assert all(each.verdict != each.becomes for each in found)
