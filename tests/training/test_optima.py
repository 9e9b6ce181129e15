"""Training: objectives that share a minimiser, and solvers that reach the optimum that theory knows."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import (
    CategoricalNoise,
    LinearRegression,
    UniformInputs,
    attention as at,
    best,
    risk,
)
from descant.attention._full import full_from_diag
from descant.runs._checkpoint import Mark, load, to_bytes
from descant.training import Level, LMTrainer, choose, make_model, plan, sample_loss, train
from descant.training._flat import flatten
from descant.training._lm import PATIENCE
from tests.support.quick import quick
from tests.support.training_tasks import TASK, six_tasks


def test_objectives_differ_by_a_constant():
    """Hence share their minimiser: how much worse one model is than another does not depend on the objective."""
    one, two = at.GDPlusPlusTransformer(*jnp.full((2, 2), -0.01)), at.GDPlusPlusTransformer(*jnp.full((2, 2), -0.04))
    expected = None
    for objective in ("adjusted", "posterior", "weights", "query"):

        def difference(key, objective=objective):
            return sample_loss(objective, one, TASK, key) - sample_loss(objective, two, TASK, key)

        values = jax.jit(jax.vmap(difference))(jax.random.split(jax.random.key(0), 10_000))
        mean, error = float(values.mean()), float(values.std() / 100)
        if expected is None:
            expected = (mean, error)
        assert abs(mean - expected[0]) < 4 * np.hypot(error, expected[1]), objective
    assert expected is not None
    assert abs(expected[0]) > 10 * expected[1], "the models should differ"


def test_an_objective_that_needs_weights_is_refused_for_models_without():
    softmax = at.SoftmaxTransformer(3, 8, 1, 2, key=jax.random.key(0))
    with pytest.raises(ValueError, match="use the query objective"):
        train(softmax, TASK, solver="adam", objective="posterior")


@pytest.mark.parametrize("name", ["lsa", "yq-lsa", "ltb"])
@pytest.mark.parametrize("task", quick(six_tasks(), "all"))
def test_one_layer_reaches_its_exact_optimum(name, task):
    """From random weights, to 0.1% of the theory room's optimum; in fact to many more digits."""
    law = six_tasks()[task]
    model = make_model(name, law, key=jax.random.key(1))
    found = train(model, law, random_starts=3)
    assert found.choice.solver == "population"
    optimum = risk(best(name, law), law).value
    assert found.risk.method == "exact"
    assert optimum * (1 - 1e-9) <= found.risk.value <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("name", quick(["lsa", "ltb"]))
@pytest.mark.optimised
def test_a_pool_leads_to_the_same_optimum(name, few_draws):
    """Least squares on sampled contexts, measured exactly: within 0.1%."""
    law = six_tasks()["mean and noise"]
    found = train(
        make_model(name, law, key=jax.random.key(1)), law, solver="lm", random_starts=2, pieces=64, most_pieces=64
    )
    optimum = risk(best(name, law), law).value
    assert found.choice.objective == "posterior"
    assert optimum <= found.risk.value <= optimum * 1.001


@pytest.mark.slow
@pytest.mark.optimised
def test_two_layers_find_the_better_basin(few_draws):
    """On {1, 3} GD++ with two layers has minima near .302 and near .246; DIAG reaches .2005 (half-MSE, adjusted)."""
    law = LinearRegression(10, 20, noise=CategoricalNoise([1.0, 3.0]))
    trainer = LMTrainer(at.Diag.zeros(2), law, key=jax.random.key(0), pieces=8, most_pieces=8, random_starts=3)
    state = trainer.init()
    while not trainer.finished(state):
        state, _ = trainer.advance(state)
    found = trainer.found(state)
    values = {name: risk(model, law, samples=40_000) for name, model in found.items()}
    for name, expected in (("gd++ 2", 0.2465), ("diag 2", 0.2005)):
        half, error = values[name].adjusted / 2, values[name].adjusted_error / 2
        assert abs(half - expected) < 0.01 * expected + 4 * error, (name, half, error)


def test_the_way_to_full_leads_over_fewer_symmetries():
    names = [level.name for level in plan(at.Full.zeros(3, 2), TASK, 0)]
    assert names == ["gd++ 1", "diag 1", "gd++ 2", "diag 2", "axial 1", "axial 2", "full 2"]
    every = [level.name for level in plan(at.Full.zeros(3, 2), TASK, 0, every_depth=True)]
    assert every == [*names[:-1], "full 1", "full 2"]


@pytest.mark.optimised
def test_a_large_model_is_kept_where_it_is_best_on_contexts_held_out(tmp_path):
    """FULL has 484 numbers here and 512 contexts: what it learns from them is soon of no use elsewhere."""
    law = LinearRegression(10, 20, noise=CategoricalNoise([1.0, 3.0]))
    start = full_from_diag(at.Diag(*jnp.array([[[0.0]] * 2, [[-1.0]] * 2, [[0.03]] * 2, [[0.0]] * 2])), 10)
    level = Level("full 2", at.Full.zeros(10, 2), lambda found, key: [start])
    settings = {"pieces": 1, "most_pieces": 2, "drawn": 1, "refine_steps": 40}
    trainer = LMTrainer(level.template, law, key=jax.random.key(0), levels=[level], **settings)
    state, rows = trainer.init(), []
    while not trainer.finished(state):
        # Through a file and back, as a training that is interrupted at every step.
        (tmp_path / "state").write_bytes(to_bytes(state, Mark(), "key"))
        state, new = trainer.advance(load(tmp_path / "state", "key")[0])
        rows += new
    assert [row["contexts"] for row in rows] == sorted(row["contexts"] for row in rows)
    assert {row["contexts"] for row in rows} == {512, 1024}, "the pool should have grown"
    last = [row for row in rows if row["contexts"] == 1024]
    held_out = [row["held_out"] for row in last]
    assert all(later <= before for before, later in pairwise(held_out))
    assert held_out[-1] == held_out[-1 - PATIENCE], "it should have stopped for want of progress"
    assert last[-1]["loss"] < last[-1 - PATIENCE]["loss"], "on its own contexts it went on getting better"
    kept = trainer._problem(0, 2, held_out=True).loss(flatten(trainer.model(state)))
    assert kept == held_out[-1]


def test_auto_says_what_it_picked():
    assert choose(make_model("lsa", TASK, key=jax.random.key(0)), TASK).solver == "population"
    deep = choose(make_model("diag", TASK, layers=3, key=jax.random.key(0)), TASK)
    assert (deep.solver, deep.objective) == ("lm", "posterior")
    assert "12 parameters" in deep.reason
    soft = choose(make_model("softmax", TASK, key=jax.random.key(0)), TASK)
    assert (soft.solver, soft.objective) == ("adam", "query")
    uniform = LinearRegression(3, 8, inputs=UniformInputs())
    assert choose(make_model("lsa", uniform, key=jax.random.key(0)), uniform).solver == "population"
    attending = at.LSA.random(3, key=jax.random.key(0), query_masked=False)
    assert choose(attending, uniform).solver == "adam"  # its cubic term has no moments here


def test_models_by_name_have_the_parts_that_were_asked_for():
    soft = make_model("softmax", TASK, layers=1, mlp="gelu", causal=True, key=jax.random.key(0))
    assert (soft.mlp, soft.causal, len(soft.blocks)) == ("gelu", True, 1)


@pytest.mark.parametrize("n", [8, 512])
def test_elsa_begins_near_the_zero_predictor_whatever_the_context_length(n):
    task = LinearRegression(3, n)
    model = make_model("elsa", task, key=jax.random.key(0))
    assert risk(model, task, samples=512).value < 3 * risk(best("zero", task), task).value
