"""Long runs that come with the package are whole, small, and say how they came about."""

import jax
import jax.numpy as jnp
import pytest

from descant.attention import LSA
from descant.claims import long_run, write_long_run
from descant.claims._long_run import HOME, NAME

NAMES = sorted(path.parent.name for path in HOME.glob(f"*/{NAME}"))
MOST_BYTES = 3_000_000


def write(tmp_path, **models):
    return write_long_run(
        "made",
        command="descant  reproduce made",
        seconds=3.0,
        numbers={"risk": [1.0, 2.0]},
        models=models,
        home=tmp_path,
    )


def test_what_is_written_is_read_again(tmp_path):
    assert long_run("made", tmp_path) is None
    first, second = (LSA.random(3, heads=1, key=jax.random.key(seed)) for seed in range(2))
    write(tmp_path, first=first, second=second)
    found = long_run("made", tmp_path)
    assert found.numbers == {"risk": [1.0, 2.0]}
    assert found.note["command"] == "descant reproduce made" and found.note["seconds"] == 3.0
    assert set(found.note) == {"name", "command", "machine", "date", "code", "seconds", "remark"}
    assert jnp.array_equal(found.model("second").v, second.v)
    # A later run of that name leaves nothing of this one.
    write(tmp_path, first=second)
    assert not (tmp_path / "made" / "second.safetensors").exists()
    assert jnp.array_equal(long_run("made", tmp_path).model("first").v, second.v)


def test_a_model_of_another_run_is_noticed(tmp_path):
    first, second = (LSA.random(3, heads=1, key=jax.random.key(seed)) for seed in range(2))
    found = write(tmp_path, first=first, second=second)
    (found.folder / "first.safetensors").write_bytes((found.folder / "second.safetensors").read_bytes())
    with pytest.raises(ValueError, match="not the model that its long run made"):
        found.model("first")


@pytest.mark.parametrize("name", NAMES)
def test_those_of_the_package_are_whole(name):
    found = long_run(name)
    assert set(found.note) == {"name", "command", "machine", "date", "code", "seconds", "remark"}
    for model in found.models:
        found.model(model)
    files = list(found.folder.iterdir())
    assert {path.name for path in files} == {NAME, *(f"{model}.safetensors" for model in found.models)}
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
