"""Trainings that share a program: each ends where it ends alone, to the last bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import GaussianPrior, LinearRegression, UniformInputs
from descant.attention import make_model
from descant.measure import best, exact_risk
from descant.training import choose, flatten, make_trainer, to_end, train_together
from descant.training._trust_region import ARRIVED, begin, go_on

LEVELS = (0.1, 0.3, 1.0, 2.0, 3.0)


def setting(solver: str, count: int, heads: int = 2, inputs=None, **settings):
    """Models and tasks that differ in their numbers only, and how they are trained."""
    tasks = [
        LinearRegression(3, 6, GaussianPrior.isotropic(3, mean=level), inputs, noise=level) for level in LEVELS[:count]
    ]
    models = [make_model("lsa", task, key=jax.random.key(index), heads=heads) for index, task in enumerate(tasks)]
    keys = [jax.random.key(10 + index) for index in range(count)]
    return models, tasks, choose(models[0], tasks[0], solver), keys, [settings] * count


def ends(models, tasks, choice, keys, settings, indices) -> list[np.ndarray]:
    found = train_together(
        [models[index] for index in indices],
        [tasks[index] for index in indices],
        choice,
        keys=[keys[index] for index in indices],
        settings=[settings[index] for index in indices],
    )
    return [flatten(model) for model, _ in found]


@pytest.mark.parametrize(
    ("solver", "settings"), [("population", {"random_starts": 3}), ("adam", {"steps": 40, "batch": 32})]
)
def test_what_comes_of_a_training_does_not_depend_on_those_beside_it(solver, settings, relaxed):
    asked = setting(solver, 5, **settings)
    together = ends(*asked, range(5))
    for index in range(5):
        assert ends(*asked, [index])[0].tobytes() == together[index].tobytes(), f"{solver} {index} alone"
    turned = [3, 1, 4, 0, 2]
    for index, found in zip(turned, ends(*asked, turned), strict=True):
        assert found.tobytes() == together[index].tobytes(), f"{solver} {index} in another place"


@pytest.mark.parametrize(
    "inputs",
    [pytest.param(None, id="problem"), pytest.param(UniformInputs(-1, 1), id="moments", marks=pytest.mark.slow)],
)
def test_the_population_together_finds_the_least_risk_of_the_class(inputs):
    models, tasks, choice, keys, settings = setting("population", 4, 2, inputs)
    found = train_together(models, tasks, choice, keys=keys, settings=settings)
    for (model, why), task in zip(found, tasks, strict=True):
        least = exact_risk(best("multi-head-lsa", task, heads=2), task)
        np.testing.assert_allclose(exact_risk(model, task), least, rtol=1e-10)
        assert "gradient" in why


@pytest.mark.parametrize("solver", ["population", "adam"])
def test_a_training_beside_others_begins_where_it_begins_alone(solver, relaxed):
    """The same starts and the same draws: alone, by its own trainer, a training comes to the same weights."""
    more = {"steps": 20, "batch": 16, "dtype": jnp.float64} if solver == "adam" else {}
    models, tasks, choice, keys, settings = setting(solver, 2, heads=1, **more)
    found = train_together(models, tasks, choice, keys=keys, settings=settings)
    for index, (model, _) in enumerate(found):
        trainer = make_trainer(models[index], tasks[index], choice, key=keys[index], **settings[index])
        alone = trainer.model(to_end(trainer))
        if solver == "adam":
            np.testing.assert_allclose(flatten(model), flatten(alone), rtol=1e-9)
        else:
            np.testing.assert_allclose(exact_risk(model, tasks[index]), exact_risk(alone, tasks[index]), rtol=1e-10)


@pytest.mark.slow
def test_solvers_that_share_nothing_train_one_by_one():
    models, tasks, choice, keys, settings = setting("lm", 2, heads=1)
    (first, _), (second, _) = train_together(models, tasks, choice, keys=keys, settings=settings)
    assert not np.array_equal(flatten(first), flatten(second))


def test_a_descent_leaves_a_saddle_and_turns_may_be_taken_in_parts():
    def function(theta):
        return (theta[0] ** 2 - 1) ** 2 + 3 * (theta[1] - theta[0]) ** 2

    start = begin(function, jnp.array([1e-3, 0.0]), 1e-10)
    whole = go_on(function, start, 1e-10, 100)
    some = jax.jit(lambda here: go_on(function, here, 1e-10, 5))
    assert int(whole.state) == ARRIVED
    np.testing.assert_allclose(whole.theta, jnp.ones(2), rtol=1e-9)
    parts = start
    for _ in range(20):
        parts = some(parts)
    assert int(parts.state) == ARRIVED and int(parts.steps) == int(whole.steps)
    np.testing.assert_allclose(parts.theta, whole.theta, rtol=1e-12)
