"""Training: objectives that share a minimiser, solvers that reach the optimum theory knows, runs that continue bit for bit."""

import contextlib
import json
import os
import subprocess
import sys
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from descant import (
    CategoricalNoise,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    UniformInputs,
    UniformNoise,
    attention as at,
    best,
    risk,
)
from descant.cli import main
from descant.runs import Store, drive
from descant.training import AdamTrainer, LMTrainer, _adam, _pool, choose, make_model, make_trainer, sample_loss, train
from descant.training._least_squares import LeastSquares, _damped_solve, _normal
from descant.training._pool import PIECE, Contexts, Spectra, draw_pool
from descant.training._sentinels import STRETCHES, stretched

from .problems import random_covariance, random_task
from .quick import quick

TASK = LinearRegression(3, 8, GaussianPrior.isotropic(3, mean=0.5), noise=CategoricalNoise([0.3, 1.5]))


@pytest.fixture
def relaxed():
    """Optax mixes dtypes inside; for the tests of Adam alone."""
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture
def few_draws(monkeypatch):
    """Keep every context that is drawn: shallow networks have no tails to look for."""
    monkeypatch.setattr(_pool, "DRAWN_PER_KEPT", (1,))


def six_tasks():
    aniso = GaussianInputs(random_covariance(4, 3))
    mean = GaussianPrior.isotropic(4, mean=1.0)
    return {
        "plain": LinearRegression(4, 6),
        "noise": LinearRegression(4, 6, noise=FixedNoise(0.8)),
        "mean": LinearRegression(4, 6, mean),
        "anisotropic": LinearRegression(4, 6, inputs=aniso),
        "mean and noise": LinearRegression(4, 6, mean, noise=UniformNoise(2.0)),
        "all": random_task(0, 4, 6),
    }


# --- objectives ---------------------------------------------------------------------------------------------------


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


# --- pools and steps ----------------------------------------------------------------------------------------------


def test_a_pool_is_unbiased_and_keeps_the_extremes():
    pool = draw_pool("posterior", TASK, 12, jax.random.key(0), sentinels=False)
    scale = np.concatenate([piece.scale for piece in pool])
    gram = np.concatenate([piece.moments.gram for piece in pool])
    np.testing.assert_allclose(np.mean(scale**2), 1.0, rtol=1e-12)
    plain = jax.vmap(lambda key: TASK.sample_moments(key=key).gram)(jax.random.split(jax.random.key(1), 100_000))
    for statistic in (lambda g: g[:, 0, 0], lambda g: g[:, 1, -1], lambda g: g[:, -1, -1], lambda g: g[:, 0, 0] ** 3):
        weighted = scale**2 * statistic(gram)
        direct = np.asarray(statistic(plain))
        error = np.hypot(weighted.std() / len(weighted) ** 0.5, direct.std() / len(direct) ** 0.5)
        assert abs(weighted.mean() - direct.mean()) < 4 * error
    size = np.linalg.norm(gram[:, :-1, :-1], axis=(1, 2))
    ordinary = np.linalg.norm(np.asarray(plain)[:, :-1, :-1], axis=(1, 2))
    assert np.sort(size)[-12] > np.quantile(ordinary, 0.9995)


def test_sentinels_stand_behind_the_largest_contexts():
    """In place of some ordinary contexts; with next to no weight."""
    plain = draw_pool("posterior", TASK, 1, jax.random.key(0), sentinels=False)[0]
    guarded = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    assert plain.scale.shape == guarded.scale.shape == (PIECE,)
    longest = [np.linalg.eigvalsh(piece.moments.gram[:, :-1, :-1])[:, -1].max() for piece in (plain, guarded)]
    assert longest[1] > 1.2 * longest[0]
    assert np.sum(np.asarray(guarded.scale[-_pool.SENTINELS :]) ** 2) < 1e-3 * np.sum(np.asarray(guarded.scale) ** 2)


@pytest.mark.parametrize("rank", [3, 2])
def test_stretched_contexts_are_contexts_of_longer_tokens(rank):
    """Built again from tokens; and weighed with the density of the tokens and the volume that a stretch takes."""
    rng = np.random.default_rng(0)
    n, d, count = 7, 3, 5
    root = np.diag([1.0, 0.7, 1.6]) if rank == 3 else np.diag([1.0, 0.7, 0.0])
    law = LinearRegression(d, n, inputs=GaussianInputs(root @ root))
    z, w, noise = rng.normal(size=(count, n, d)), rng.normal(size=(count, d)), rng.normal(size=(count, n))

    def gram(z):
        x = z @ root
        tokens = np.concatenate([x, (np.einsum("mnd,md->mn", x, w) + noise)[..., None]], axis=2)
        return np.einsum("mni,mnj->mij", tokens, tokens)

    if rank == 2:
        z[:, :, 2] = 0
    found, weights = stretched(law, gram(z), w)
    factors = np.linspace(*STRETCHES, count)
    u, values, v = np.linalg.svd(z, full_matrices=False)
    largest, others = values[:, 0].copy(), values[:, 1:rank]
    values[:, 0] *= np.sqrt(factors)
    longer = np.einsum("mnk,mk,mkd->mnd", u, values, v)
    np.testing.assert_allclose(found, gram(longer), rtol=1e-9, atol=1e-9)
    # The density of singular values s of a normal matrix: e^(-s^2/2) s^(n-k) prod (s^2 - s_j^2), here per d(s^2).
    density = [
        np.exp(-(s**2) / 2) * s ** (n - rank - 1) * np.prod(s[:, None] ** 2 - others**2, axis=1).reshape(1, -1)
        for s in (np.sqrt(factors) * largest, largest)
    ]
    np.testing.assert_allclose(weights, (density[0] / density[1])[0], rtol=1e-9)


def test_larger_pools_begin_with_smaller_ones():
    small, large = (draw_pool("weights", TASK, count, jax.random.key(3)) for count in (1, 2))
    assert eqx.tree_equal(small[0], large[0])
    assert eqx.tree_equal(draw_pool("weights", TASK, 1, jax.random.key(3), start=1)[0], large[1])


def test_spectra_give_the_same_residuals():
    contexts = draw_pool("posterior", random_task(1, 4, 9), 1, jax.random.key(0))[0]
    model = at.GDPlusPlusTransformer.random(4, key=jax.random.key(1), scale=0.03)
    root = jnp.asarray(random_covariance(4, 2))
    plain = jax.vmap(lambda context: context.residual(model, root))(contexts)
    spectral = jax.vmap(lambda context: context.residual(model, root))(Spectra.of(contexts))
    np.testing.assert_allclose(spectral, plain, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "model", [at.FreeDiag.random(2, key=jax.random.key(0)), at.Full.random(3, 2, key=jax.random.key(0))]
)
def test_normal_equations_against_a_dense_jacobian(model):
    """Forward and reverse derivatives, block by block, are those of all residuals in one."""
    contexts = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    problem = LeastSquares(model, [contexts], jnp.eye(3))
    flat, unravel = ravel_pytree(eqx.filter(model, eqx.is_array))
    theta = np.asarray(flat)

    def residuals(theta):
        rebuilt = eqx.combine(unravel(theta), model)
        return jax.vmap(lambda context: context.residual(rebuilt, jnp.eye(3)))(contexts).ravel()

    jacobian = np.asarray(jax.jacfwd(residuals)(jnp.asarray(theta)))
    matrix, gradient, loss = _normal(model, contexts, jnp.eye(3))
    np.testing.assert_allclose(matrix, jacobian.T @ jacobian, rtol=1e-8, atol=1e-8 * np.abs(matrix).max())
    np.testing.assert_allclose(gradient, jacobian.T @ residuals(theta), rtol=1e-8, atol=1e-8 * np.abs(gradient).max())
    np.testing.assert_allclose(loss / PIECE, problem.loss(theta), rtol=1e-10)


def test_one_context_cannot_poison_a_step():
    """A context a thousand times too large: steps still only ever lower the loss of the whole pool, and it is in it."""
    contexts = draw_pool("posterior", TASK, 1, jax.random.key(0))[0]
    spoilt = eqx.tree_at(lambda c: c.moments.gram, contexts, contexts.moments.gram.at[0].multiply(1e3))
    model = at.FreeDiag.random(2, key=jax.random.key(0), scale=0.02)
    problem = LeastSquares(model, [spoilt], jnp.eye(3))
    theta = np.asarray(ravel_pytree(eqx.filter(model, eqx.is_array))[0])
    point = problem.start(theta)
    assert point.loss > 1e3
    losses = [point.loss]
    for _ in range(30):
        point = problem.step(point)
        losses.append(point.loss)
    assert all(after <= before for before, after in pairwise(losses))
    assert np.all(np.isfinite(point.theta))
    assert losses[-1] < 1e-2 * losses[0]


def test_damped_steps_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    jacobian, residual = rng.standard_normal((20, 3)), rng.standard_normal(20)
    units = np.array([1.0, 1e4, 1e-4])
    plain = _damped_solve(jacobian.T @ jacobian, jacobian.T @ residual, 0.1)
    scaled = jacobian * units[None, :]
    np.testing.assert_allclose(_damped_solve(scaled.T @ scaled, scaled.T @ residual, 0.1) * units, plain, rtol=1e-6)


# --- reaching the optimum -----------------------------------------------------------------------------------------


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


def test_auto_says_what_it_picked():
    assert choose(make_model("lsa", TASK, key=jax.random.key(0)), TASK).solver == "population"
    deep = choose(make_model("diag", TASK, layers=3, key=jax.random.key(0)), TASK)
    assert (deep.solver, deep.objective) == ("lm", "posterior")
    assert "12 parameters" in deep.reason
    soft = choose(make_model("softmax", TASK, key=jax.random.key(0)), TASK)
    assert (soft.solver, soft.objective) == ("adam", "query")
    uniform = LinearRegression(3, 8, inputs=UniformInputs())
    assert choose(make_model("lsa", uniform, key=jax.random.key(0)), uniform).solver == "lm"


# --- Adam ---------------------------------------------------------------------------------------------------------


def finished(trainer):
    state = trainer.init()
    while not trainer.finished(state):
        state, _ = trainer.advance(state)
    return state


@pytest.mark.parametrize("name", ["elsa", "softmax", "lsa"])
def test_adam_lowers_the_risk_of_token_models(name, relaxed):
    law = LinearRegression(2, 5, inputs=UniformInputs(-1.0, 1.0))
    settings = {"query_masked": False} if name == "lsa" else {}
    model = make_model(name, law, key=jax.random.key(0), **settings)
    found = train(model, law, solver="adam", objective="query", steps=150, batch=128, lr=1e-2, samples=4096)
    before = risk(model, law, samples=4096)
    assert found.risk.value < before.value - 4 * found.risk.standard_error


def test_members_train_as_they_would_alone(relaxed):
    """Seeds, tasks and step sizes in one program: each member goes the way it goes alone under its own key."""
    laws = [LinearRegression(3, 8, noise=FixedNoise(sigma)) for sigma in (0.0, 1.0)]
    models = [at.FreeDiag.random(2, key=jax.random.key(seed), scale=0.01) for seed in (0, 1)]
    settings = {"objective": "weights", "key": jax.random.key(5), "steps": 20, "batch": 64, "dtype": jnp.float64}
    both = AdamTrainer(models, laws, lr=[1e-3, 3e-3], **settings)
    alone = AdamTrainer(models[0], laws[0], lr=1e-3, **settings)
    together = both.members(finished(both))
    single = alone.members(finished(alone))[0]
    for one, other in zip(jax.tree.leaves(together[0]), jax.tree.leaves(single), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert not eqx.tree_equal(together[0], together[1])


def test_members_must_be_alike():
    models = [at.FreeDiag.random(layers, key=jax.random.key(0)) for layers in (1, 2)]
    with pytest.raises(ValueError, match="differ in kind or in shape"):
        AdamTrainer(models, TASK, key=jax.random.key(0))
    with pytest.raises(ValueError, match="2 models, 2 tasks and 3 step sizes"):
        AdamTrainer(models, TASK, key=jax.random.key(0), lr=[1.0, 1.0, 1.0])


def test_programs_are_traced_once(relaxed):
    """Other seeds, step sizes and noise levels of the same shapes compile nothing new."""
    traces = []
    original = _adam.batch_loss
    _adam.batch_loss = lambda *arguments: traces.append(1) or original(*arguments)
    try:
        for seed, sigma in ((0, 0.5), (1, 2.0)):
            law = LinearRegression(3, 8, noise=FixedNoise(sigma))
            model = at.GDPlusPlusTransformer.random(2, key=jax.random.key(seed))
            finished(
                AdamTrainer(model, law, key=jax.random.key(seed), steps=30, chunk=10, batch=16, lr=0.01 * (seed + 1))
            )
    finally:
        _adam.batch_loss = original
    assert len(traces) == 1


def test_least_squares_are_traced_once_per_shape(few_draws):
    traces = []
    original = Contexts.residual
    # A class attribute: the compiled programs look it up when they are traced, and only then.
    try:
        Contexts.residual = lambda self, model, root: traces.append(1) or original(self, model, root)
        counts = []
        for sigma in (0.5, 2.0):
            law = LinearRegression(3, 9, noise=FixedNoise(sigma))
            problem = LeastSquares(
                at.FreeDiag.random(2, key=jax.random.key(0)),
                draw_pool("posterior", law, 1, jax.random.key(0)),
                jnp.eye(3),
            )
            problem.step(problem.start(0.01 * np.ones(8)))
            counts.append(len(traces))
    finally:
        Contexts.residual = original
    assert counts[0] > 0
    assert counts[1] == counts[0]


# --- runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["population", "lm", "adam"])
def test_an_interrupted_training_ends_in_the_same_bits(solver, tmp_path, relaxed, few_draws):
    law = LinearRegression(2, 5, GaussianPrior.isotropic(2, mean=0.5), noise=FixedNoise(0.5))
    model = at.FreeDiag.random(2, key=jax.random.key(0)) if solver == "lm" else at.LSA.random(2, key=jax.random.key(0))
    settings = {
        "population": {"random_starts": 3},
        "lm": {"random_starts": 1, "pieces": 2, "most_pieces": 2, "screen_steps": 3, "refine_steps": 6},
        "adam": {"steps": 60, "chunk": 10, "batch": 32},
    }[solver]

    def trainer():
        choice = choose(model, law, solver, "auto")
        return make_trainer(model, law, choice, key=jax.random.key(1), **settings)

    whole = Store(tmp_path / "whole").open({"a": 1})
    state = drive(trainer(), whole)
    whole.finish(trainer().model(state), {"risk": 0.0})
    cut = Store(tmp_path / "cut").open({"a": 1})
    for _ in range(500):
        calls = []
        state = drive(trainer(), cut, stop=lambda calls=calls: len(calls.append(1) or calls) > 2)
        if trainer().finished(state):
            break
    else:
        pytest.fail("never finished")
    cut.finish(trainer().model(state), {"risk": 0.0})
    for name in ("model.safetensors", "metrics.parquet"):
        assert (whole.folder / name).read_bytes() == (cut.folder / name).read_bytes(), name


def command(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return stopped.value.code, output.out, output.err


def test_train_and_eval_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DESCANT_RUNS", str(tmp_path / "runs"))
    arguments = [
        "train",
        "lsa",
        "--d",
        3,
        "--n",
        5,
        "--prior-mean",
        1,
        "--samples",
        4096,
        "--out",
        tmp_path / "run",
        "--json",
    ]
    status, out, err = command(arguments, capsys)
    assert status == 0, err
    result = json.loads(out)
    law = LinearRegression(3, 5, GaussianPrior.isotropic(3, mean=1.0))
    np.testing.assert_allclose(result["risk"], risk(best("lsa", law), law).value, rtol=1e-6)
    assert result["standard_error"] == 0.0
    stamp = (tmp_path / "run" / "result.json").stat().st_mtime_ns
    status, again, _ = command(arguments, capsys)
    assert json.loads(again)["risk"] == result["risk"]
    assert (tmp_path / "run" / "result.json").stat().st_mtime_ns == stamp, "a finished run is found, not repeated"
    status, out, _ = command(["eval", tmp_path / "run", "--json", "--samples", 4096, "--levels", 2], capsys)
    measured = json.loads(out)
    assert status == 0
    np.testing.assert_allclose(measured["risk"], result["risk"], rtol=1e-12)
    assert {"risk", "standard_error", "adjusted"} <= set(measured)
    assert [row["sigma"] for row in measured["levels"]] == [0.0, 1.0]
    assert measured["levels"][1]["risk"] > measured["levels"][0]["risk"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "gru"], "model is 'gru'"),
        (["train", "lsa", "--layers", 3], "lsa has no layers to choose"),
        (["train", "ltb", "--heads", 2], "ltb has no heads to choose"),
        (["train", "ltb", "--tied"], "none to tie"),
        (["train", "lsa", "--solver", "sgd"], "solver is 'sgd'"),
        (["train", "lsa", "--objective", "hinge"], "objective is 'hinge'"),
        (["train", "lsa", "--lr", 0.1], "--lr means nothing to the solver population"),
        (["train", "softmax", "--lr", -1], "lr is -1.0"),
        (["train", "softmax", "--solver", "lm"], "not linear in the query; use adam"),
        (["train", "softmax", "--solver", "population"], "exact risk of this SoftmaxTransformer"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, capsys):
    status, _, err = command([*arguments, "--d", 3, "--n", 5, "--out", tmp_path / "run"], capsys)
    assert status == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1


def test_eval_of_what_is_no_run(tmp_path, capsys):
    status, _, err = command(["eval", tmp_path / "nothing"], capsys)
    assert status == 2
    assert len(err.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_bits(tmp_path):
    """SIGKILL the real command while it trains, as often as it takes; then its files are those of an undisturbed run."""

    def start(folder):
        arguments = ["train", "gd++", "--layers", "2", "--d", "3", "--n", "8", "--noise", "0.5", "--solver", "adam"]
        sizes = ["--steps", "3000", "--batch", "256", "--samples", "2048", "--out", str(folder), "--json"]
        environment = {**os.environ, "DESCANT_RUNS": str(tmp_path / "runs"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "descant", *arguments, *sizes]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    undisturbed = start(whole)
    _, error = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, error
    rng = np.random.default_rng()
    kills = 0
    for _ in range(20):
        process = start(cut)
        if kills < 3:
            # From before the first checkpoint to after the last one.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=rng.uniform(3.0, 10.0))
        if kills < 3 and process.poll() is None:
            process.kill()
            process.communicate()
            kills += 1
            continue
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        if (cut / "result.json").exists():
            break
    for name in ("model.safetensors", "metrics.parquet", "result.json"):
        assert (whole / name).read_bytes() == (cut / name).read_bytes(), name
