"""Outcomes are whole or absent, found by their address, and noticed when a bit of them is another."""

import math

import pytest

from descant.sweeps import Outcome, Store

ONE = Outcome(value=1 / 3, standard_error=0.0, method="exact", theory=math.inf, more={"stopped": "at once"})
TWO = Outcome(value=math.nan, reason="odd")


@pytest.mark.parametrize("place", ["folder", "memory://sweeps-test"])
def test_what_is_kept_is_found_to_the_last_bit(place, tmp_path):
    root = str(tmp_path / place) if place == "folder" else f"{place}/{tmp_path.name}"
    store = Store(root)
    store.check()
    assert store.find({"a", "b"}) == {}
    store.keep({"a": ONE, "b": TWO})
    store.keep({"c": ONE})
    found = Store(root).find({"a", "b"})
    assert found["a"] == ONE and math.isnan(found["b"].value) and set(found) == {"a", "b"}
    store.write("x/y.txt", b"text")
    assert store.read("x/y.txt") == b"text" and store.read("x/z.txt") is None


def test_the_same_outcomes_are_the_same_file(tmp_path):
    store = Store(tmp_path)
    for _ in range(2):
        store.keep({"a": ONE})
    store.keep({})
    assert len(list((tmp_path / "points").iterdir())) == 1


def test_damage_is_noticed(tmp_path):
    store = Store(tmp_path)
    store.keep({"a": ONE})
    (path,) = (tmp_path / "points").iterdir()
    whole = path.read_bytes()
    for damaged in (whole.replace(b"0.3333", b"0.3334"), whole[:-9], b"", whole + whole):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"can't be read.*delete it"):
            store.find({"a"})
    path.write_bytes(whole)
    assert store.find({"a"}) == {"a": ONE}


def test_places_that_nothing_can_write_to_are_refused(tmp_path):
    with pytest.raises(ValueError, match="expected a folder, or an address"):
        Store("nonsense://somewhere")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="a part of that path is a file"):
        Store(tmp_path / "file").check()
