"""What a risk costs: an exact one compiles next to nothing and draws nothing, and the oracle is sampled once a task."""

import contextlib

import jax
import jax.numpy as jnp
import pytest

from descant import FixedNoise, GaussianPrior, LinearRegression, UniformNoise, best, risk
from descant.forms import _oracle
from descant.measure import _risk, exact_risk

# A key, and a few numbers that are turned into JAX's.
FEWEST_PROGRAMS = 6


@pytest.fixture
def programs(monkeypatch):
    """The programs that are compiled, or looked for on disk, while a test runs."""
    found: list[str] = []

    def listen(event: str, seconds: float, **_):
        if "backend_compile" in event:
            found.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield found
    jax.monitoring.unregister_event_duration_listener(listen)


@pytest.fixture
def draws(monkeypatch):
    """How often contexts were drawn, in NumPy or in JAX."""
    counted: list[str] = []
    numpy_draws, jax_draws = _oracle._posterior_variances, _risk.mean_over_keys
    monkeypatch.setattr(_oracle, "_posterior_variances", lambda *a: counted.append("NumPy") or numpy_draws(*a))
    monkeypatch.setattr(_risk, "mean_over_keys", lambda *a: counted.append("JAX") or jax_draws(*a))
    return counted


@pytest.mark.parametrize("name", ["lsa", "gd", "gd-beta", "multi-head-lsa", "preconditioned-gd", "zero", "ols"])
def test_an_exact_risk_compiles_next_to_nothing_and_draws_nothing(name, programs, draws):
    task = LinearRegression(17, 23, GaussianPrior.isotropic(17, 1.0), noise=FixedNoise(0.3))
    assert risk(best(name, task), task).method == "exact"
    assert len(programs) <= FEWEST_PROGRAMS and draws == []


@pytest.mark.parametrize(("noise", "where"), [(FixedNoise(0.5), "NumPy"), (UniformNoise(0.5), "JAX")])
def test_the_oracle_is_drawn_when_it_is_asked_for_and_once_a_task(noise, where, draws):
    task = LinearRegression(2, 5, noise=noise)
    found = [risk(best(name, task), task, samples=64) for name in ("gd", "zero")]
    assert draws == []
    oracle = [each.value - each.adjusted for each in found]
    assert draws == [where] and oracle[0] == pytest.approx(oracle[1], rel=1e-12)
    assert found[0].adjusted_error == found[1].adjusted_error > 0
    # Another task of the same shapes, and another key, are other questions.
    other = LinearRegression(2, 5, GaussianPrior.isotropic(2, scale=2.0), noise=noise)
    assert risk(best("zero", other), other, samples=64).adjusted != found[1].adjusted
    assert risk(best("zero", task), task, samples=64, key=jax.random.key(1)).adjusted != found[1].adjusted
    assert draws == [where] * 3


def test_the_oracle_itself_is_the_same_number():
    task = LinearRegression(2, 5, noise=FixedNoise(0.5))
    zero = risk(best("zero", task), task, samples=64)
    for name in ("ridge", "bayes"):
        found = risk(best(name, task), task, samples=64)
        assert found.method == "moments" and found.adjusted == 0
        assert found.value == pytest.approx(zero.value - zero.adjusted, rel=1e-12)
    # Who believes in another law of the noise is no oracle, though the mean variance is the same.
    uniform = LinearRegression(2, 5, noise=UniformNoise(0.5 * 3**0.5))
    assert risk(best("bayes", uniform), task, samples=64).adjusted > 0


@pytest.mark.parametrize("name", ["gd", "lsa", "zero"])
def test_numbers_that_are_too_large_give_no_warnings(name):
    """Warnings are errors here: what overflows in NumPy goes on, as it does in JAX, until somebody looks at it."""
    task = LinearRegression(2, 3, GaussianPrior(jnp.full(2, 1e200), jnp.eye(2)), noise=FixedNoise(1.0))
    with contextlib.suppress(ValueError, OverflowError):
        exact_risk(best(name, task), task)
