"""The bench of an experiment: parts that are kept, networks that claims share."""

import threading

import pytest

from descant.attention import Diag
from descant.claims import Lab, _claim, _lab, judge, kept


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setattr(_lab, "WAIT_S", 0.05)
    told = []
    bench = Lab(tmp_path / "claim", tmp_path / "runs", tell=lambda words, share: told.append(words))
    return bench, told


def test_a_part_is_computed_once_and_read_as_it_was_kept(lab):
    bench, _ = lab
    calls = []
    first = bench.keep("part", lambda: calls.append(1) or {"x": (1.0, float("inf"))})
    assert first == {"x": [1.0, float("inf")]} == bench.keep("part", lambda: calls.append(1))
    assert len(calls) == 1
    assert len(bench.found) == 1  # what the part took counts again


def test_a_run_that_another_one_trains_is_waited_for(lab):
    bench, told = lab
    begun, goes_on, trained = threading.Event(), threading.Event(), []

    def train(run):
        trained.append(1)
        begun.set()
        assert goes_on.wait(10)
        run.finish(Diag.zeros(1), {"risk": 1.0, "standard_error": 0.0})

    other = threading.Thread(target=lambda: bench.finished_run({"model": "diag"}, train))
    other.start()
    assert begun.wait(10)
    threading.Timer(0.6, goes_on.set).start()
    run = bench.finished_run({"model": "diag"}, train)
    other.join()
    assert run.result["risk"] == 1.0
    assert len(trained) == 1
    assert any("waiting" in words for words in told)


TYPED = """
from descant import claims
bound = {value}
def helper():
    return bound
@claims.claim("typed", paper="descant", whose="extension", where="here", title="T", statement="S", refuted_by="R",
              method="M", quick="q", full="f", seconds=1)
def typed(lab):
    return claims.Evidence((claims.at_most("value", helper(), 1.0, reason="bound"),))
"""


def test_a_claim_that_was_typed_is_judged_each_time(tmp_path):
    """No file says whether what its functions call is still the same."""
    found = []
    for value in (0.5, 7.0):
        names = {"__name__": "typed_in_a_console"}
        exec(compile(TYPED.format(value=value), "<stdin>", "exec"), names)
        claim = _claim._FOUND.pop("typed")
        found.append(judge(claim, tmp_path).verdict)
        assert not kept(tmp_path, {"typed": claim})
    assert found == ["holds", "does-not-hold"]
