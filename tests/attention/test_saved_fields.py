"""Models of a user's own, with types as text as in many users' files: what is saved is what is loaded."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Literal, Optional, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array, Float

from descant import AbstractPredictor, _tensors, attention as at

if TYPE_CHECKING:
    from pathlib import Path as OnlyForTypeCheckers


class Plain(AbstractPredictor):
    """Plain values of all types that a file holds."""

    a: Float[Array, " d"]
    on: bool = eqx.field(static=True, default=True)
    word: Literal["up", "down"] = eqx.field(static=True, default="up")
    quoted: "int" = eqx.field(static=True, default=3)  # noqa: UP037
    maybe: Optional[int] = eqx.field(static=True, default=None)  # noqa: UP045
    either: Union[int, str] = eqx.field(static=True, default="x")  # noqa: UP007
    rate: float = eqx.field(static=True, default=1)
    hidden: OnlyForTypeCheckers | int = eqx.field(static=True, default=1)

    def __call__(self, prompt):
        """Nothing of the prompt."""
        return self.a.sum()


class Squares(AbstractPredictor):
    """Loaded from its field, it would be squared twice."""

    a: jax.Array

    def __init__(self, a):
        self.a = jnp.asarray(a) ** 2

    def __call__(self, prompt):
        """Nothing of the prompt."""
        return self.a.sum()


class Casts(AbstractPredictor):
    """Has float64 whatever it is made from."""

    a: jax.Array

    def __init__(self, a):
        self.a = jnp.asarray(a, jnp.float64)

    def __call__(self, prompt):
        """Nothing of the prompt."""
        return self.a.sum()


@pytest.mark.parametrize("a", [[1.0, 2.0], [1.0, jnp.nan]])
def test_plain_fields_are_loaded_whatever_way_their_types_are_written(a, tmp_path):
    path, model = tmp_path / "model.safetensors", Plain(jnp.array(a))
    at.save(model, path)
    loaded = at.load(path, Plain)
    assert jax.tree.structure(loaded) == jax.tree.structure(model)
    assert jnp.array_equal(loaded.a, model.a, equal_nan=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [("on", 1), ("word", "left"), ("quoted", "3"), ("maybe", 0.5), ("either", None), ("rate", True), ("rate", "1")],
)
def test_values_of_other_types_are_refused(field, value, tmp_path):
    with pytest.raises(ValueError, match=f"can't be loaded again: {field} is {value!r}, which is not of its type"):
        at.to_bytes(Plain(jnp.ones(2), **{field: value}))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(number, tmp_path):
    path = tmp_path / "model.safetensors"
    at.save(Plain(jnp.ones(2), rate=0.25), path)
    arrays, note = _tensors.read(path, "")
    path.write_bytes(_tensors.to_bytes(arrays, json.loads(json.dumps(note).replace("0.25", number))))
    with pytest.raises(ValueError, match=r"rate is (nan|-?inf); expected a finite number"):
        at.load(path, Plain)


def nested(depth: int) -> list:
    return functools.reduce(lambda inner, _: [inner], range(depth), [])


@pytest.mark.parametrize("field", ["on", "a", "hidden"])
def test_lists_where_none_belong_are_refused(field, tmp_path):
    path = tmp_path / "model.safetensors"
    at.save(Plain(jnp.ones(2)), path)
    arrays, note = _tensors.read(path, "")
    for value in ([[]] if field == "on" else []) + [nested(900)]:
        note["model"]["fields"][field] = value
        path.write_bytes(_tensors.to_bytes(arrays, note))
        with pytest.raises(ValueError, match=r"model.safetensors( can't be read)?: .*(not understood|recursion)"):
            at.load(path, Plain)


def test_a_model_that_would_be_another_one_is_not_written(tmp_path):
    single = eqx.tree_at(lambda model: model.a, Casts([1.0]), jnp.ones(1, jnp.float32))
    for model in (Squares([2.0, 3.0]), single):
        with pytest.raises(ValueError, match="is not the same after it was saved and loaded"):
            at.save(model, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())
    at.save(Casts([1.0]), tmp_path / "model.safetensors")
