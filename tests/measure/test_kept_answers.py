"""Answers that are kept belong to the very task: a user's class may hold numbers of Python's, or lists."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression, estimators, risk
from descant._reason import reason_against
from descant.tasks import AbstractPrior, Unknown


class Own(AbstractPrior):
    """Normal tasks; whether they are known to be depends on a number."""

    scale: float
    words: list[str] = eqx.field(static=True)

    def check(self, d):
        pass

    def sample(self, d, *, key):
        return self.scale * jax.random.normal(key, (d,))

    def gaussian(self, d):
        if self.scale > 2:
            raise Unknown("scale is above 2")
        return jnp.zeros(d), self.scale**2 * jnp.eye(d)

    def components(self, d):
        return GaussianPrior(*self.gaussian(d)).components(d)


def _known(prior, key):
    del key
    return prior.gaussian(2)[0]


def test_an_answer_is_that_of_a_number_of_pythons_too():
    for words in (("a",), ["a"]):  # the second can't be hashed
        assert reason_against(_known, Own(1.0, words)) == ""
        assert reason_against(_known, Own(3.0, words)) == "scale is above 2"


@pytest.mark.parametrize("words", [("a",), ["a"]], ids=["hashed", "not hashed"])
def test_an_oracle_is_that_of_its_task(words):
    def above(scale):
        task = LinearRegression(2, 6, Own(scale, words), noise=FixedNoise(0.5))
        found = risk(estimators.Zero(), task, samples=512)
        assert found.method == "exact"
        return found.adjusted

    assert above(0.5) < above(2.0) and above(0.5) == above(0.5)
