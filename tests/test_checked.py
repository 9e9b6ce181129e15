"""The tests' own checks of types and shapes see what is wrong: at once in every test, and later on too."""

import jaxtyping
import numpy as np
import pytest
from beartype import beartype

import descant
from descant import estimators
from descant.forms import _heads
from tests.support.checked import EVERY, FIRST, forget_calls, sparing


def _half(x: jaxtyping.Float[np.ndarray, " d"]) -> jaxtyping.Float[np.ndarray, " d"]:
    return x if x[0] == 0 else x[:1]


def test_the_first_calls_of_a_test_are_checked_and_some_of_the_others():
    # `jaxtyped` is ours by now; below it is the package's.
    half = sparing(jaxtyping._decorator.jaxtyped)(typechecker=beartype)(_half)
    wrong = []
    for call in range(1, 4 * EVERY):
        try:
            half(np.ones(2))
        except jaxtyping.TypeCheckError:
            wrong.append(call)
    assert wrong == [*range(1, FIRST + 1), *range(EVERY, 4 * EVERY, EVERY)]
    forget_calls()
    with pytest.raises(jaxtyping.TypeCheckError):
        half(np.ones(2))
    np.testing.assert_array_equal(half(np.zeros(2)), 0)


def test_the_package_is_checked():
    with pytest.raises(jaxtyping.TypeCheckError):
        _heads._query_maps(np.ones((2, 3)), np.ones((3, 1)))
    with pytest.raises(jaxtyping.TypeCheckError):
        descant.risk(estimators.Zero(), "no task")
